import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { forwardLines } from '../../src/log/forwarded.js'

/** What is forwarded of a child that runs this. */
const forwarded = async (program: string): Promise<string[]> => {
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'ignore', 'pipe'] })
  const texts: string[] = []
  forwardLines(child.stderr, (text) => texts.push(text))
  await once(child, 'close')
  return texts
}

t.test('what a child writes is forwarded, also a last line without an end', async (t) => {
  const texts = await forwarded(`process.stderr.write('first\\nsecond\\nthe last')`)
  t.equal(texts.join('\n'), 'first\nsecond\nthe last')
})

t.test(
  'of a child that never stops the first quarter of a MiB is forwarded, and the child is not blocked',
  async (t) => {
    const texts = await forwarded(`process.stderr.write('x'.repeat(99).concat('\\n').repeat(20_000))`)
    const length = texts.reduce((sum, text) => sum + text.length + 1, 0)
    t.ok(length >= 256 * 1024 && length < 512 * 1024, `${length}`)
  },
)

t.test('a pipe that fails does not end the process', async (t) => {
  const pipe = new PassThrough()
  forwardLines(pipe, (text) => t.fail(text))
  const closed = new Promise<void>((resolve) => pipe.once('close', resolve))
  pipe.destroy(new Error('read EIO'))
  await closed
})
