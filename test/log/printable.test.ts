import t from 'tap'
import { printable } from '../../src/log/log.js'

t.test('control characters of a line are shown as pictures, and nothing else is changed', async (t) => {
  t.equal(printable('a\u0000\u001b[31m\n\u007f b\tc é'), 'a\u2400\u241b[31m\u240a\u2421 b\tc é')
  t.equal(printable('\u0080\u009f'), '\ufffd\ufffd')
})
