import t from 'tap'
import { parseArguments } from '../../bench/arguments.js'
import { quickPace, usualPace } from '../../bench/warm-up.js'

t.test('without options everything is measured at length', async (t) => {
  const { isQuick, isJson, isPinned, rounds, clients, only, target, pace, savePath, markdownOf } = parseArguments([])
  t.strictSame(
    { isQuick, isJson, isPinned, rounds, clients, only, target, savePath, markdownOf },
    {
      isQuick: false,
      isJson: false,
      isPinned: false,
      rounds: 5,
      clients: 8,
      only: [],
      target: undefined,
      savePath: undefined,
      markdownOf: [],
    },
  )
  t.equal(pace, usualPace)
  t.equal(parseArguments(['--quick']).pace, quickPace)
  const { pace: compared } = parseArguments(['--quick', '--against', 'x'])
  t.equal(compared.runMs, quickPace.runMs)
  t.ok(compared.warmUp.leastMs > usualPace.warmUp.leastMs, 'short rounds of warm builds')
  t.equal(parseArguments(['--pin']).isPinned, true)
})

t.test('a target is an address with a port, in the form of an URI or not', async (t) => {
  const target = (text: string) => parseArguments(['--target', text, '--target-pid', '47']).target
  t.strictSame(target('grpc://host:8980'), { address: 'host:8980', instanceName: '', pid: 47 })
  t.equal(target('127.0.0.1:1')?.address, '127.0.0.1:1')
  for (const wrong of ['host', 'grpcs://host:1', 'grpc://host:1/path', 'http://host:1']) {
    t.throws(() => target(wrong), { message: `--target ${wrong}: expected grpc://host:port` })
  }
})

t.test('numbers are whole, and of rounds and clients there is one at least', async (t) => {
  t.equal(parseArguments(['--rounds', '7', '--clients', '3']).rounds, 7)
  t.equal(parseArguments(['--clients', '3']).clients, 3)
  t.throws(() => parseArguments(['--rounds', '0']), { message: '--rounds 0: expected at least 1' })
  t.throws(() => parseArguments(['--clients', 'x']), { message: '--clients x: expected a whole number' })
  t.throws(() => parseArguments(['--target', 'h:1', '--target-pid', '1.5']), /--target-pid 1.5/)
  t.throws(() => parseArguments(['--slow']), /--slow/)
})

t.test('several cases and several files may be named', async (t) => {
  const { only, markdownOf } = parseArguments(['--only', 'a', '--only', 'b', '--markdown', 'x', '--markdown', 'y'])
  t.strictSame(only, ['a', 'b'])
  t.strictSame(markdownOf, ['x', 'y'])
})
