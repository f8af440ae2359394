import t from 'tap'
import { findingsIn } from './findings.js'

const REFUSED: readonly (readonly [what: string, text: string, said: RegExp])[] = [
  ['a bare timeout', 'setTimeout(() => {}, 1)', /guardedTimeout/],
  ['a bare interval', 'const timer = setInterval(() => {}, 1).unref()\nclearInterval(timer)', /guardedInterval/],
  ['work at the end of a turn', 'setImmediate(() => {})', /guardedImmediate/],
  ['the same with a value', 'setImmediate(work, 1)', /guardedImmediate/],
  ['work after promises', 'queueMicrotask(work)', /guardedAfterPromises/],
  ['a tick', 'process.nextTick(work, 1)', /guardedAfterPromises/],
  ['a promise whose rejection is lost', 'void work().then(callback)', /A rejection is lost/],
  ['the same of an object', 'const end = () => void this.#work?.then(callback)\nend()', /A rejection is lost/],
  ['the same in parentheses', 'if (isLive) void (await work()).over.then(callback)', /A rejection is lost/],
  ['a listener for the first error only', "socket.once('close', end).once('error', end)", /A second 'error'/],
  ['the memory that may not be readable', 'const { rss } = process.memoryUsage()\nuse(rss)', /base\/memory-usage/],
  ['its resident part', 'use(process.memoryUsage.rss())', /base\/memory-usage/],
  ['a message to a child without a callback', 'child.send(message)', /pass a callback/],
  ['a message to a child of an object', 'this.child.send(message)', /pass a callback/],
  ['a message to the parent without a callback', 'process.send?.(message)', /pass a callback/],
  ['a promise that ends in finally', 'void work().finally(release)', /handle it first/],
]

t.test('the linter refuses what ends the process, or is lost, although no call failed', async (t) => {
  const found = findingsIn(
    t,
    'src',
    REFUSED.map(([, text]) => text),
  )
  for (const [at, [what, , said]] of REFUSED.entries()) t.match(found[at], said, what)
})

t.test('the linter takes what goes on after a failure', async (t) => {
  const text = `import { guardedTimeout } from './timers.js'

guardedTimeout(() => {}, 1)
socket.once('close', end).on('error', end)
child.send(message, () => {})
process.send?.(message, undefined, undefined, () => {})
port.send(message)
work().then(release, release)
guardedImmediate(work)
await setImmediate()
setImmediate().then(release, release)
void values.length`
  t.same(findingsIn(t, 'src', [text]), [''])
})
