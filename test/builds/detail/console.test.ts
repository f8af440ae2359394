import t from 'tap'
import { Console } from '../../../src/builds/detail/console.js'

const linesOf = (...texts: string[]): string[] => {
  const terminal = new Console()
  for (const text of texts) terminal.write(text)
  return terminal.lines.map(({ spans }) => spans.map(({ text }) => text).join(''))
}

t.test('lines that a progress display drew again are shown once', async (t) => {
  const [up, erase] = ['\u001b[1A', '\u001b[K']
  const frames = [1, 2, 3].map(
    (at) => `${at === 1 ? '' : `\r${up}${erase}${up}${erase}`}[${at} / 3]\n    Compiling ${at}\n`,
  )
  t.same(linesOf(...frames, `\r${up}${erase}${up}${erase}INFO: done\n`), ['INFO: done'])
  t.same(linesOf('first\n10 %\r50 %\r100 %\nlast\n'), ['first', '100 %', 'last'])
  t.same(linesOf('windows\r\nlines\r\n'), ['windows', 'lines'])
})

t.test('colours are names, also across writes that cut a sequence', async (t) => {
  const terminal = new Console()
  for (const text of [
    '\u001b[31m\u001b[1mFAIL: ',
    '\u001b',
    '[',
    '0',
    'mplain \u001b[38;5;2mgreen\u001b[39m \u001b]0;title\u0007end',
  ])
    terminal.write(text)
  t.same(terminal.lines[0]?.spans, [
    { text: 'FAIL: ', style: ['red', 'bold'] },
    { text: 'plain ', style: [] },
    { text: 'green', style: ['green'] },
    { text: ' end', style: [] },
  ])
})

t.test('a sequence that never ends hides nothing behind it', async (t) => {
  t.match(linesOf(`\u001b]0;${'x'.repeat(1000)}`, 'tail').join(''), /tail$/)
})

t.test('a line of five megabytes keeps its begin and says how much is left out', async (t) => {
  const terminal = new Console()
  for (let at = 0; at < 50; at++) terminal.write('x'.repeat(100_000))
  terminal.write('\nnext\n')
  t.same(
    terminal.lines.map(({ spans, cutCharacters }) => [spans[0]?.text.length, cutCharacters]),
    [
      [4000, 4_996_000],
      [4, 0],
    ],
  )
})

t.test('of many lines the last are kept, and the others counted', async (t) => {
  const terminal = new Console()
  for (let at = 0; at < 20_000; at++) terminal.write(`line ${at}\n`)
  const { lines, droppedLines } = terminal
  t.ok(lines.length >= 4000 && lines.length <= 4300, `${lines.length} lines`)
  t.equal(lines.length + droppedLines, 20_000)
  t.equal(lines.at(-1)?.spans[0]?.text, 'line 19999')
  const wide = new Console()
  for (let at = 0; at < 5000; at++) wide.write(`${'y'.repeat(3999)}\n`)
  const characters = wide.lines.reduce((sum, { spans }) => sum + (spans[0]?.text.length ?? 0), 0)
  t.ok(characters <= 2 ** 20, `${characters} characters`)
  t.equal(wide.lines.length + wide.droppedLines, 5000)
})
