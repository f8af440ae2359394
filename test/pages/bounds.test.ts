/** Builds that are too large for a page: what is read and kept is bounded, and the page says what is missing. */
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { Stream } from '../../src/builds/log/record.js'
import { silentLog } from '../../src/log/log.js'
import { stepsIn } from '../../src/pages/builds/critical-path.js'
import { DetailsOfBuilds } from '../../src/pages/builds/details.js'
import { profileIn } from '../../src/pages/builds/profile.js'
import { bazel, folderFor, openBuilds, progress } from '../builds/harness.js'
import { keepInvocations, rowsIn, startPages, textIn } from './harness.js'

const READER = new AbortController().signal

t.test('of a log without end the first part is read, by one reader for all who ask', async (t) => {
  const path = await folderFor(t)
  const events = Array.from({ length: 2000 }, (_, at) => progress(`${'x'.repeat(1000)} ${at}\n`))
  await keepInvocations(path, [{ id: 'one', events, isFinished: false }])
  const { builds } = await openBuilds(t, path, {}, silentLog)
  const [kept] = builds.withId('one')
  if (kept === undefined) throw new Error('not kept')
  let readBlocks = 0
  const records = builds.records.bind(builds)
  builds.records = (key) => {
    readBlocks += 1
    return records(key)
  }
  const all = new DetailsOfBuilds(builds, 500_000)
  const [first, second] = await Promise.all([all.of(kept, READER), all.of(kept, READER)])
  t.equal(first, second)
  t.equal(await all.of(kept, READER), first, 'and it is kept for the next page')
  t.equal(readBlocks, 1)
  t.equal(first?.isWhole, false)
  t.ok((first?.readEvents ?? 0) < 1000, `${first?.readEvents} events`)
})

t.test('a build with very many targets is read once for all of its tabs', async (t) => {
  const path = await folderFor(t)
  const events = Array.from({ length: 50_000 }, (_, at) =>
    bazel({ id: { targetCompleted: { label: `//a:${at}` } }, completed: { success: true } }),
  )
  await keepInvocations(path, [{ id: 'one', events }])
  const { builds } = await openBuilds(t, path, {}, silentLog)
  const [kept] = builds.withId('one')
  if (kept === undefined) throw new Error('not kept')
  const all = new DetailsOfBuilds(builds)
  t.equal(await all.of(kept, READER), await all.of(kept, READER))
})

t.test('failures, targets and attempts beyond their bounds are counted', async (t) => {
  const failures = Array.from({ length: 250 }, (_, at) =>
    bazel({
      id: { actionCompleted: { label: `//a:${at}` } },
      action: { success: false, exitCode: 1, type: 'Genrule' },
    }),
  )
  const attempts = Array.from({ length: 600 }, (_, at) =>
    bazel({ id: { testResult: { label: '//a:test', run: at + 1, shard: 1, attempt: 1 } }, testResult: { status: 1 } }),
  )
  const { get } = await startPages(t, { invocations: [{ id: 'one', events: [...failures, ...attempts] }] })
  const overview = await get('/invocation/one')
  t.equal([...overview.text.matchAll(/<article /g)].length, 10)
  t.match(textIn(overview.text), '240 more actions failed')
  const tests = await get('/invocation/one/tests')
  t.match(textIn(tests.text), '100 more results are not listed')
  t.match(rowsIn(tests.text)[1]?.[3], 'and 480 more')
})

t.test('a table of 10,000 rows is read in pages, whose order and place are in the address', async (t) => {
  const events = Array.from({ length: 10_000 }, (_, at) =>
    bazel({ id: { targetCompleted: { label: `//a:${String(at).padStart(5, '0')}` } }, completed: { success: true } }),
  )
  const { get } = await startPages(t, { invocations: [{ id: 'one', events }] })
  const second = await get('/invocation/one/targets?sort=-label&page=2')
  const rows = rowsIn(second.text).slice(1)
  t.equal(rows.length, 100)
  t.equal(rows[0]?.[1], '//a:09899')
  t.match(textIn(second.text), 'Page 2 of 100, 10,000 in all')
  t.match(second.text, 'aria-sort="descending"')
  for (const page of ['0', '-1', '1e9', 'x', '101', '1.5']) {
    const { answer, text } = await get(`/invocation/one/targets?page=${page}`)
    t.equal(answer.status, 200)
    t.equal(rowsIn(text).length, 101, page)
  }
  t.equal(rowsIn((await get('/invocation/one/targets?label=0012')).text).length, 12)
})

t.test('what is no profile and no critical path is none', async (t) => {
  const { signal } = new AbortController()
  const read = (text: string | Buffer) => profileIn([Buffer.from(text)], signal)
  for (const content of [{}, [], { traceEvents: 1 }, { traceEvents: [null, 1, {}, { ph: 'X' }] }])
    t.equal(await read(JSON.stringify(content)), 'The profile has a form that is not known here.')
  for (const text of [
    '',
    'null',
    '1',
    '"x"',
    '{',
    '[{"a":1}',
    '[{"a":}]',
    ']',
    '{"traceEvents":[{"ph":"X"}',
    gzipSync('[]').subarray(0, 15),
  ])
    t.equal(await read(text), 'The profile cannot be read.', String(text))
  const works = Array.from({ length: 5000 }, (_, at) => ({ ph: 'X', name: 'w', tid: at % 50, ts: at, dur: at + 1 }))
  for (const file of [
    JSON.stringify(works),
    gzipSync(JSON.stringify({ otherData: { traceEvents: [1] }, traceEvents: works })),
  ]) {
    const profile = await read(file)
    if (typeof profile === 'string') throw new Error(profile)
    t.equal(profile.lanes.length, 32)
    t.equal(profile.works.length, 1500)
    t.equal(profile.works[0]?.tookMs, 5)
    t.equal(profile.leftOut, 3500)
  }
  t.same(stepsIn('nothing\n  x action\n 1.2.3s a\n'), [])
  t.same(stepsIn("Critical Path: 3 s\n  2.5s action 'b'\n  100ms a [rest]\n"), [
    { what: 'a [rest]', tookMs: 100 },
    { what: 'b', tookMs: 2500 },
  ])
})

t.test('names, words and messages of five megabytes are cut on every page', async (t) => {
  const long = '<b>'.repeat(1_700_000)
  const events = [
    bazel({ id: { pattern: { pattern: [long] } }, started: { command: long, buildToolVersion: long } }),
    bazel({
      structuredCommandLine: {
        commandLineLabel: 'original',
        sections: [{ sectionLabel: long, optionList: { option: [{ combinedForm: `--action_env=TOKEN=${long}` }] } }],
      },
    }),
    bazel({ id: { targetCompleted: { label: long } }, completed: { success: false } }),
    bazel({
      id: { actionCompleted: { label: long } },
      action: { type: long, commandLine: [long], failureDetail: { message: long } },
    }),
    bazel({ id: { testResult: { label: long, run: 1 } }, testResult: { status: 4, statusDetails: long } }),
    bazel({ buildMetadata: { metadata: { BRANCH_NAME: long } } }),
    progress(long),
    bazel({ finished: { exitCode: { code: 1, name: long } } }),
  ]
  const { get } = await startPages(t, { invocations: [{ id: 'one', events }] })
  for (const path of [
    '/',
    ...['', '/targets', '/tests', '/log', '/timing', '/command'].map((at) => `/invocation/one${at}`),
  ]) {
    const { answer, text } = await get(path)
    t.equal(answer.status, 200, path)
    t.ok(text.length < 200_000, `${path}: ${text.length} characters`)
  }
})

t.test('of a log of numbers alone, without their events, the first part is read', async (t) => {
  const path = await folderFor(t)
  const { builds } = await openBuilds(t, path, { maxInvocationBytes: 1 }, silentLog)
  const { invocation, leave } = await builds.join({
    ...{ instance: '', invocationId: 'one', buildId: 'b', keywords: [], startedMs: 1 },
  })
  const event = progress('a line')
  await Promise.all(
    Array.from({ length: 20_000 }, (_, at) => invocation.append({ stream: Stream.tool, number: at + 1, event })),
  )
  await leave()
  const [kept] = builds.withId('one')
  if (kept === undefined) throw new Error('not kept')
  t.equal(kept.summary.leftOutCount, 20_000)
  t.equal((await new DetailsOfBuilds(builds, 500_000).of(kept, READER)).isWhole, false)
})
