/** The log of a build: numbered lines to link to, a search, the first error, and text without the codes of terminals. */
import t from 'tap'
import { progress } from '../builds/harness.js'
import { startPages, textIn } from './harness.js'

const lines = Array.from({ length: 30 }, (_, at) => (at === 19 ? 'a.cc:3:1: error: no <b>depth</b>' : `line ${at + 1}`))
const printed = `\u001b[32mINFO:\u001b[0m begun\r\n${lines.join('\n')}\nloading 1\rloading 2\n`

/** The lines of the page, each with its number in front. */
const linesIn = (text: string): string[] =>
  textIn(/<pre>.*?<\/pre>/s.exec(text)?.[0].replaceAll('\n', '¶') ?? '')
    .split('¶')
    .map((line) => line.trim())
    .filter((line) => line !== '')

t.test('each line has a number that is its address, and the first error is one click away', async (t) => {
  const { get } = await startPages(t, { invocations: [{ id: 'one', events: [progress(printed)] }] })
  const { text } = await get('/invocation/one/log')
  t.match(text, '<a class="place" id="L21" href="#L21" tabindex="-1">21</a>')
  t.match(text, /<a href="#L21">First error: line 21<\/a>/)
  t.equal(linesIn(text).length, 32)
  t.match(text, /input type="search"/)
})

t.test('a search shows the lines with a text, whose numbers lead to their places', async (t) => {
  const { get } = await startPages(t, { invocations: [{ id: 'one', events: [progress(printed)] }] })
  const found = await get('/invocation/one/log?instance=main&q=%3CB%3Edepth')
  t.same(linesIn(found.text), ['21 a.cc:3:1: error: no <b>depth</b>'])
  t.match(found.text, 'href="/invocation/one/log?instance=main#L21"')
  t.match(textIn(found.text), '1 of 32 lines')
  t.notMatch(found.text, '<b>depth')
  t.match(textIn((await get('/invocation/one/log?q=nowhere')).text), 'No line has that text.')
  const data = JSON.parse((await get('/invocation/one/log.json?q=line%203')).text)
  t.same(data.log, { lines: ['line 3', 'line 30'], numbers: [4, 31], linesAbove: 0, firstError: 21 })
})

t.test('the log as text has no codes of terminals, unless a terminal asks for them', async (t) => {
  const { get } = await startPages(t, { invocations: [{ id: 'one', events: [progress(printed)] }] })
  const { text } = await get('/invocation/one/log.txt')
  t.equal(text, `INFO: begun\n${lines.join('\n')}\nloading 1\nloading 2\n`)
  t.equal((await get('/invocation/one/log.txt?codes=1')).text, printed)
})
