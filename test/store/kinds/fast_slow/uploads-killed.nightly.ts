// For changes in: src/store/kinds/fast_slow, src/store/kinds/filesystem/leases.ts, src/store/contract/upload-order.ts

import { fork } from 'node:child_process'
import t from 'tap'
import { loader, programAt } from '../../../built.js'
import { until } from '../../../until.js'
import { digestOf, get, isPresent } from '../../blobs.js'
import { openFilesystem } from '../filesystem/open.js'
import { openBehind } from './behind.js'
import { blobAt, keyOf } from './uploads-killed.js'

t.setTimeout(300_000)

interface Report {
  readonly acknowledged: number
  readonly waiting: number
  readonly done: number
}

const program = programAt(new URL('uploads-killed.ts', import.meta.url))

/** Kills a writer some milliseconds after it has reported so many blobs. Returns its last report. */
const kill = async (folder: string, from: number, staysAway: boolean, afterMs: number): Promise<Report> => {
  const child = fork(program, [folder, String(from), staysAway ? 'away' : ''], { execArgv: [...loader] })
  let last: Report = { acknowledged: from, waiting: 0, done: 0 }
  let isDue = false
  child.on('message', (report) => {
    last = report as Report
    if (isDue || last.acknowledged < from + 200) return
    isDue = true
    // biome-ignore lint/plugin: kills at any moment
    setTimeout(() => child.kill('SIGKILL'), afterMs)
  })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  if (code !== null) throw new Error(`the writer ended with ${code} before it was killed`)
  return last
}

t.test('kill -9 while slow is away and while the queue drains loses nothing that was acknowledged', async (t) => {
  const folder = t.testdir({ fast: {}, slow: {} })
  let acknowledged = 0
  let killedWaiting = 0
  let killedDraining = 0
  for (let round = 0; round < 14; round++) {
    const staysAway = round % 2 === 0
    const report = await kill(folder, acknowledged, staysAway, 20 + ((round * 37) % 200))
    acknowledged = report.acknowledged
    if (report.waiting > 0) killedWaiting += 1
    if (report.waiting > 0 && report.done > 0) killedDraining += 1
    t.comment(JSON.stringify({ round, staysAway, ...report }))
    // A process may kill another one in the middle of a later round of twenty.
    acknowledged += 40
    const near = await openFilesystem(`${folder}/fast`)
    const missing = []
    for (let number = 0; number < report.acknowledged; number++) {
      if (wasAsked(number, round) && !(await isPresent(near.store, digestOf(blobAt(number))))) missing.push(number)
    }
    t.same(missing, [], 'fast has what was acknowledged')
    await near.close()
    asked.push({ from: asked.at(-1)?.next ?? 0, to: report.acknowledged, next: acknowledged })
  }
  t.ok(killedWaiting > 5, `${killedWaiting} were killed with uploads that waited`)
  t.ok(killedDraining > 2, `${killedDraining} while they were drained`)

  const far = await openFilesystem(`${folder}/slow`)
  const { store, usage, close } = await openBehind({ folder: `${folder}/fast`, slow: far.store })
  t.comment(`${usage().entryCount} wait at the end`)
  await until(async () => usage().entryCount === 0, 'an empty queue')
  t.equal(usage().lostCount, 0)
  const absent = []
  for (const { from, to } of asked)
    for (let number = from; number < to; number++) {
      const digest = digestOf(blobAt(number))
      if (!(await isPresent(far.store, digest)) || !(await get(far.store, digest)).equals(blobAt(number)))
        absent.push(number)
    }
  t.same(absent, [], 'slow has what was acknowledged')
  for (let key = 0; key < 50; key += 5)
    t.same(await get(far.store, keyOf(key)), await get(store, keyOf(key)), `key ${key} is the same in both`)
  await close()
  await far.close()
})

/** The numbers that each killed process had acknowledged: those between its last report and its end are unknown. */
const asked: { readonly from: number; readonly to: number; readonly next: number }[] = []

const wasAsked = (number: number, round: number): boolean =>
  asked.slice(0, round).every(({ to, next }) => number < to || number >= next)
