import t from 'tap'
import { PlainText } from '../../../src/builds/detail/plain-text.js'

const plainOf = (...texts: string[]): string => {
  const plain = new PlainText()
  return texts.map((text) => plain.take(text)).join('')
}

t.test('text has no codes of terminals, wherever it is cut', async (t) => {
  const text = '\u001b[31m\u001b[1mFAIL\u001b[0m: a\r\n10 %\r50 %\r\u001b[K100 %\n\u001b]0;title\u0007end\r\r\nlast\n'
  const expected = 'FAIL: a\n10 %\n50 %\n100 %\nend\n\nlast\n'
  t.equal(plainOf(text), expected)
  t.equal(plainOf(...text), expected, 'a character at a time')
  for (let at = 1; at < text.length; at++) t.equal(plainOf(text.slice(0, at), text.slice(at)), expected, `cut at ${at}`)
})

t.test('what only begins like a code is kept, but for its first character', async (t) => {
  t.equal(plainOf('a\u001b$b\n'), 'a$b\n')
  t.match(
    plainOf(`\u001b]0;${'x'.repeat(1000)}`, 'tail'),
    /x{1000}tail$/,
    'nothing hides behind a code that never ends',
  )
})
