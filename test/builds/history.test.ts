/** The tests of builds over time: one file beside the logs, derived again if it is lost. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { HistoryFile } from '../../src/builds/history/history-file.js'
import { lastRuns } from '../../src/builds/history/test-history.js'
import { Stream } from '../../src/builds/log/record.js'
import { until } from '../until.js'
import { bazel, folderFor, LAST, openBuilds } from './harness.js'

const test = (label: string, overallStatus: number) =>
  bazel({ id: { testSummary: { label } }, testSummary: { overallStatus, totalRunDurationMillis: 1500 } })

t.test('each finished build adds its tests once, and a lost or damaged file is derived from the logs', async (t) => {
  const path = await folderFor(t)
  const file = join(path, 'tests.jsonl')
  const first = await openBuilds(t, path)
  for (const [id, status] of [
    ['one', 1],
    ['two', 4],
    ['three', 2],
  ] as const) {
    const about = { instance: 'main', invocationId: id, buildId: 'b', keywords: [], startedMs: first.clock.now() }
    const { invocation, leave } = await first.builds.join(about)
    const events = [test('//a:test', status), LAST]
    await Promise.all(events.map((event, at) => invocation.append({ stream: Stream.tool, number: at + 1, event })))
    await leave()
    await leave()
  }
  const seen = async ({ builds }: typeof first) =>
    [...(await builds.tests.all())].map((one) => ({
      ...one,
      last: lastRuns(one).map(({ id, status }) => [id, status]),
    }))
  const expected = [
    {
      ...{ label: '//a:test', instance: 'main', scope: undefined, runs: 3, failed: 1, flaky: 1 },
      last: [
        ['one', 'passed'],
        ['two', 'failed'],
        ['three', 'flaky'],
      ],
    },
  ]
  t.same(await seen(first), expected)
  await first.builds.close()
  const kept = await readFile(file, 'utf8')
  for (const damage of ['', 'no history at all\n', kept.slice(0, -40), undefined]) {
    if (damage === undefined) await rm(file)
    else await writeFile(file, damage)
    const again = await openBuilds(t, path)
    await until(async () => (await seen(again))[0]?.runs === 3, 'derived again')
    const [found] = await seen(again)
    t.same([found?.failed, found?.flaky], [1, 1], JSON.stringify(damage?.slice(0, 20)))
    await again.builds.close()
  }
  t.equal((await readFile(file, 'utf8')).split('\n').filter((line) => line.includes('"key"')).length, 3, 'each once')
})

t.test('the file has a bound', async (t) => {
  const path = join(await folderFor(t), 'tests.jsonl')
  const history = new HistoryFile(path)
  await history.open()
  const tests = Array.from({ length: 5000 }, (_, at) => [`//${'x'.repeat(280)}:${at}`, 'passed', 1] as const)
  for (let at = 0; at < 60; at++)
    await history.add({ key: String(at), id: String(at), instance: '', atMs: 1_700_000_000_000 + at, tests })
  t.ok(history.sizeBytes < 70 * 1024 * 1024, `${history.sizeBytes} bytes`)
  const keys = []
  for await (const { key } of history.records()) keys.push(key)
  t.equal(keys.at(-1), '59', 'the newest are kept')
  t.ok(keys.length > 20, `${keys.length} builds`)
})
