import t from 'tap'
import { findingsIn } from './findings.js'

const UNTIL = /use until, found or during/
const TURNS = /A wait of so many turns/
const SLEEP = /A sleep is too short/
const TIME = /Time that a loaded machine takes/
const MEMORY = /use test\/held-memory/
const LUCK = /use test\/drawn\.ts/

const REFUSED: readonly (readonly [what: string, text: string, said: RegExp])[] = [
  ['a loop that waits without an end', 'while (!isSo()) await turn()', UNTIL],
  ['one with a block', 'while (!isSo()) {\n  look()\n  await turn()\n}', UNTIL],
  ['one that waits in its condition', 'while ((await ask()) === 0);', UNTIL],
  ['one that waits afterwards', 'do {\n  await turn()\n} while (!isSo())', UNTIL],
  ['one without a condition', 'for (;;) await turn()', UNTIL],
  ['one that counts for nothing', 'for (let count = 0; ; count++) await turn(count)', UNTIL],
  ['a wait of so many turns', 'for (let turn = 0; turn < 100 && !isSo(); turn++) await turn()', TURNS],
  ['the same the other way round', 'for (let turn = 0; !isSo() && turn < 100; turn++) {\n  await turn()\n}', TURNS],
  ['a sleep', "import { setTimeout } from 'node:timers/promises'\n\nawait setTimeout(5)", SLEEP],
  ['a sleep of another name', "import { setImmediate, setTimeout as pause } from 'node:timers/promises'", SLEEP],
  ['a timer', 'await new Promise((resolve) => setTimeout(resolve, 5))', SLEEP],
  ['time that was taken', 't.ok(performance.now() - begunMs < 5000)', TIME],
  ['the same by the calendar', 't.ok(Date.now() - begunMs < 5000)', TIME],
  ['a moment that must not have come', 't.ok(Date.now() < untilMs)', TIME],
  ['memory of the process', 't.ok(process.memoryUsage().rss < 1e9)', MEMORY],
  ['its resident part', 't.ok(process.memoryUsage.rss() < 1e9)', MEMORY],
  ['random bytes', "import { createHash, randomBytes } from 'node:crypto'", LUCK],
  ['a random number', "import { randomInt } from 'node:crypto'", LUCK],
  ['another', 'wait(Math.random() * 60)', LUCK],
  ['its time on processors', 'const before = process.cpuUsage()\nuse(before)', MEMORY],
]

t.test('the linter refuses what fails by luck on a loaded machine, or waits for ever', async (t) => {
  const found = findingsIn(
    t,
    'test',
    REFUSED.map(([, text]) => text),
  )
  for (const [at, [what, , said]] of REFUSED.entries()) t.match(found[at], said, what)
})

t.test('the linter takes waits with an end, and moments that are no limit', async (t) => {
  const text = `import { createHash, randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

t.setTimeout(600_000)
while (fields.next()) found.push(fields.number)
for (let turn = 0; turn < 20; turn++) await setImmediate()
for (let next = await requests.next(); next !== undefined; next = await requests.next()) use(next)
const options = { deadline: Date.now() + 60_000, since: Date.now() - 60_000 }
use(options, createHash('sha256'), randomUUID())`
  t.same(findingsIn(t, 'test', [text]), [''])
})
