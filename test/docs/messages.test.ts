import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { root } from '../cli/program.js'

/** Every source file, its lines joined: a message may go over several. */
const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !path.includes('generated'))
  .map((path) => readFileSync(`${root}src/${path}`, 'utf8'))

const messagesOf = (page: string): readonly string[] =>
  [...page.matchAll(/^\| `([^|]+?)` \| /gm)].map(([, message = '']) => message)

/** Whether one file has all parts of a message, in their order. */
const says = (source: string, message: string): boolean => {
  let at = 0
  for (const part of message.split('...')) {
    at = source.indexOf(part, at)
    if (at < 0) return false
    at += part.length
  }
  return true
}

t.test('every message of the page is one of the program', async (t) => {
  const messages = messagesOf(readFileSync(`${root}docs/messages.md`, 'utf8'))
  t.ok(messages.length > 30)
  t.notOk(sources.some((source) => says(source, 'no program says ... this')))
  for (const message of messages) {
    const length = Math.max(...message.split('...').map((part) => part.trim().length))
    t.ok(length >= 10, `${message}: enough of it to look for`)
    t.ok(
      sources.some((source) => says(source, message)),
      message,
    )
  }
})
