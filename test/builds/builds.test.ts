import { mkdirSync } from 'node:fs'
import { open, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import t, { type Test } from 'tap'
import { type About, keyOf } from '../../src/builds/about.js'
import type { Builds } from '../../src/builds/builds.js'
import { NO_STATE } from '../../src/builds/log/block.js'
import { LogFile, readBlocks } from '../../src/builds/log/log-file.js'
import { Stream } from '../../src/builds/log/record.js'
import { outcomeOf, SUMMARY_VERSION } from '../../src/builds/summary.js'
import { until } from '../until.js'
import { bazel, failure, folderFor, LAST, openBuilds, progress, recordsOf } from './harness.js'

const about = (invocationId: string, parts: Partial<About> = {}): About => ({
  instance: '',
  invocationId,
  buildId: 'b',
  keywords: [],
  startedMs: 1_700_000_000_000,
  ...parts,
})

/** Publishes events of the tool from number `from` on, and resolves when all are on disk. */
const publish = async (builds: Builds, of: About, eventsOf: readonly Buffer[], from = 1): Promise<void> => {
  const { invocation, leave } = await builds.join(of)
  try {
    await Promise.all(eventsOf.map((event, at) => invocation.append({ stream: Stream.tool, number: from + at, event })))
  } finally {
    await leave()
  }
}

const logOf = (path: string, id: string): string => join(path, keyOf('', id).slice(0, 2), `${keyOf('', id)}.log`)

t.test('a log cut off anywhere in its last block goes on behind the block before', async (t) => {
  const path = join(await folderFor(t), 'one.log')
  const records = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({
      stream: Stream.tool,
      number: from + at,
      receivedMs: 5,
      event: progress(`line ${from + at}`),
    }))
  const file = await LogFile.open(path)
  await file.append(records(1, 10), { ...NO_STATE, lastTool: 10 })
  const firstBytes = file.sizeBytes
  await file.append(records(11, 10), { ...NO_STATE, lastTool: 20, isFinished: true })
  await file.close()
  const whole = await readFile(path)
  for (let sizeBytes = firstBytes; sizeBytes <= whole.length; sizeBytes++) {
    await writeFile(path, whole.subarray(0, sizeBytes))
    const again = await LogFile.open(path)
    const expected =
      sizeBytes === whole.length ? { lastTool: 20, isFinished: true } : { lastTool: 10, isFinished: false }
    t.match(again.state, expected, `${sizeBytes} bytes`)
    t.equal(again.sizeBytes, sizeBytes === whole.length ? sizeBytes : firstBytes)
    await again.append(records(11, 1), { ...NO_STATE, lastTool: 11 })
    await again.close()
    const read: number[] = []
    for await (const block of readBlocks(path)) for (const { number } of block.records) read.push(number)
    t.equal(read.length, sizeBytes === whole.length ? 21 : 11, 'readable to the end')
  }
  const damaged = Buffer.from(whole)
  damaged[whole.length - 1] = (damaged[whole.length - 1] as number) ^ 1
  await writeFile(path, damaged)
  const last = await LogFile.open(path)
  t.equal(last.state.lastTool, 10, 'a damaged last block counts as torn')
  await last.close()
})

t.test('a restart knows every invocation, and derives summaries that are missing or old', async (t) => {
  const path = await folderFor(t)
  const first = await openBuilds(t, path)
  const build = [
    bazel({ id: { pattern: { pattern: ['//a/...'] } }, expanded: {} }),
    bazel({ started: { command: 'test', buildToolVersion: '7.7.0', startTimeMillis: 1000 } }),
    bazel({
      workspaceStatus: {
        item: [
          { key: 'BUILD_USER', value: 'ann' },
          { key: 'GIT_BRANCH', value: 'main' },
        ],
      },
    }),
    bazel({ buildMetadata: { metadata: { USER: 'bob' } } }),
    bazel({ id: { targetCompleted: { label: '//a:b' } }, completed: { success: true } }),
    bazel({ id: { targetCompleted: { label: '//a:c' } }, completed: {} }),
    bazel({ id: { testSummary: { label: '//a:t' } }, testSummary: { overallStatus: 4 } }),
    bazel({ finished: { exitCode: { name: 'TESTS_FAILED', code: 3 }, finishTimeMillis: 4000 } }),
    LAST,
  ]
  await publish(first.builds, about('one'), build)
  await publish(first.builds, about('two'), build.slice(0, 3))
  const before = first.builds.list()
  t.match(before.find(({ summary }) => summary.about.invocationId === 'one')?.summary, {
    command: 'test',
    tool: '7.7.0',
    patterns: ['//a/...'],
    user: 'bob',
    branch: 'main',
    exitCode: 3,
    exitName: 'TESTS_FAILED',
    startedMs: 1000,
    endedMs: 4000,
    targetCount: 2,
    failedTargetCount: 1,
    testCount: 1,
    failedTestCount: 1,
    eventCount: 9,
    isFinished: true,
  })
  t.same(before.map(({ summary, isOpen }) => outcomeOf(summary, isOpen)).sort(), ['incomplete', 'tests failed'])
  await first.builds.close()

  const second = await openBuilds(t, path)
  t.same(second.builds.list(), before)
  await second.builds.close()
  const summaryOfOne = logOf(path, 'one').replace('.log', '.json')
  await rm(summaryOfOne)
  const summaryOfTwo = logOf(path, 'two').replace('.log', '.json')
  const old = JSON.parse((await readFile(summaryOfTwo, 'utf8')).slice(9))
  const text = JSON.stringify({ ...old, version: SUMMARY_VERSION - 1, user: 'stale' })
  await writeFile(summaryOfTwo, `${crc32(text).toString(16).padStart(8, '0')} ${text}`)
  const third = await openBuilds(t, path)
  await until(
    async () =>
      third.builds.list().every(({ summary }) => summary.version === SUMMARY_VERSION) &&
      third.builds.list().length === 2,
  )
  t.same(third.builds.list(), before, 'derived again')
})

t.test('a number that is kept is not kept twice, and a gap is refused', async (t) => {
  const { builds } = await openBuilds(t, await folderFor(t))
  const lines = Array.from({ length: 10 }, (_, at) => progress(`line ${at + 1}`))
  await publish(builds, about('one'), lines.slice(0, 5))
  await publish(builds, about('one'), lines.slice(2), 3)
  const { invocation, leave } = await builds.join(about('one'))
  t.throws(() => invocation.append({ stream: Stream.tool, number: 12, event: LAST }), {
    message: /event 12 came after event 10, expected event 11/,
  })
  await invocation.append({ stream: Stream.tool, number: 11, event: LAST })
  t.throws(() => invocation.append({ stream: Stream.tool, number: 12, event: LAST }), { message: /after the end/ })
  await leave()
  const kept = (await recordsOf(builds, keyOf('', 'one'))).slice(1)
  t.same(
    kept.map(({ number }) => number),
    Array.from({ length: 11 }, (_, at) => at + 1),
  )
  t.same(
    kept.map(({ event }) => event),
    [...lines, LAST],
    'byte for byte',
  )
})

t.test('two streams of one invocation at a time, as after a connection that seems alive, make one log', async (t) => {
  const { builds } = await openBuilds(t, await folderFor(t))
  const [one, two] = [await builds.join(about('one')), await builds.join(about('one'))]
  t.equal(one.invocation, two.invocation)
  const pending = one.invocation.append({ stream: Stream.tool, number: 1, event: progress('a') })
  const again = two.invocation.append({ stream: Stream.tool, number: 1, event: progress('a') })
  const next = two.invocation.append({ stream: Stream.tool, number: 2, event: progress('b') })
  await Promise.all([pending, again, next])
  await one.leave()
  await two.invocation.append({ stream: Stream.tool, number: 3, event: LAST })
  await two.leave()
  t.equal((await recordsOf(builds, keyOf('', 'one'))).length, 4)
})

t.test('a branch that takes the id of an invocation first does not keep a trusted caller from it', async (t) => {
  const { builds } = await openBuilds(t, await folderFor(t))
  await publish(builds, about('one', { identity: 'token branch', scope: 'refs/x' }), [progress('a')])
  await publish(builds, about('one', { identity: 'token ci' }), [progress('b')])
  t.same(
    builds.withId('one').map(({ summary: { about: of } }) => [of.identity, of.scope]),
    [
      ['token ci', undefined],
      ['token branch', 'refs/x'],
    ],
  )
})

t.test('another caller may not add to an invocation, also after a restart', async (t) => {
  const path = await folderFor(t)
  const { builds } = await openBuilds(t, path)
  await publish(builds, about('one', { identity: 'token ann' }), [progress('a')])
  const refused = { code: 'PERMISSION_DENIED', message: /begun by another caller/ }
  t.match(await failure(builds.join(about('one', { identity: 'token bob' }))), refused)
  await builds.close()
  const { builds: later } = await openBuilds(t, path)
  t.match(await failure(later.join(about('one', { identity: 'token bob' }))), refused)
  await publish(later, about('one', { identity: 'token ann' }), [LAST], 2)
  await publish(later, about('one', { identity: 'token bob', instance: 'other' }), [LAST])
  t.equal(later.withId('one').length, 2, 'the same id in another instance is another invocation')
})

t.test('beyond max_invocation_bytes only numbers and the end are kept', async (t) => {
  const { builds } = await openBuilds(t, await folderFor(t), { maxInvocationBytes: 5000 })
  const large = progress('x'.repeat(2000))
  await publish(builds, about('one'), [large, large, large, large, LAST])
  const kept = (await recordsOf(builds, keyOf('', 'one'))).slice(1)
  t.same(
    kept.map(({ event }) => event.length),
    [large.length, large.length, 0, 0, LAST.length],
  )
  t.match((await builds.find(keyOf('', 'one')))?.summary, { leftOutCount: 2, isFinished: true })
})

t.test('a stream that never ends is refused after very many events, but for its end', async (t) => {
  const path = await folderFor(t)
  const { builds } = await openBuilds(t, path)
  await publish(builds, about('one'), [progress('a')])
  await builds.close()
  const log = await LogFile.open(logOf(path, 'one'))
  await log.append([], { ...log.state, lastTool: 20_000_000 - 1 })
  await log.close()
  const { builds: again } = await openBuilds(t, path)
  const { invocation, leave } = await again.join(about('one'))
  await invocation.append({ stream: Stream.tool, number: 20_000_000, event: progress('b') })
  t.throws(() => invocation.append({ stream: Stream.tool, number: 20_000_001, event: progress('c') }), {
    message: /has 20,000,000 events already/,
  })
  await invocation.append({ stream: Stream.tool, number: 20_000_001, event: LAST })
  await leave()
  t.match((await again.find(keyOf('', 'one')))?.summary, { isFinished: true })
})

const filesIn = async (path: string): Promise<number> =>
  (await readdir(path, { recursive: true })).filter((name) => /\/[0-9a-f]{32}\.(log|json)$/.test(name)).length

t.test('the oldest invocations are removed beyond a number, a size and an age; open ones stay', async (t) => {
  const path = await folderFor(t)
  const { builds, clock } = await openBuilds(t, path, { maxInvocations: 3, maxAgeMs: 60_000 })
  const ids = () =>
    builds
      .list()
      .map(({ summary }) => summary.about.invocationId)
      .sort()
  const open = await builds.join(about('open'))
  await open.invocation.append({ stream: Stream.tool, number: 1, event: progress('a') })
  for (const id of ['one', 'two', 'three']) {
    clock.advance(1000)
    await publish(builds, about(id, { startedMs: clock.now() }), [LAST])
  }
  t.same(ids(), ['open', 'three', 'two'])
  clock.advance(120_000)
  t.same(ids(), ['open'], 'too old')
  await until(async () => (await filesIn(path)) === 1)
  await open.leave()
})

t.test('a folder full of open invocations refuses more, and takes them when there is room', async (t) => {
  const { builds } = await openBuilds(t, await folderFor(t), { maxBytes: 4000 })
  const { invocation, leave } = await builds.join(about('one'))
  const noise = (seed: number) =>
    progress(Array.from({ length: 400 }, (_, at) => ((at * 7919 + seed) * 104_729).toString(36)).join(''))
  await invocation.append({ stream: Stream.tool, number: 1, event: noise(1) })
  await invocation.append({ stream: Stream.tool, number: 2, event: noise(2) }).catch(() => {})
  t.throws(() => invocation.append({ stream: Stream.tool, number: 3, event: noise(3) }), {
    message: /full of builds that are still running/,
  })
  await invocation.append({ stream: Stream.tool, number: 3, event: LAST })
  await leave()
  t.same(builds.list(), [], 'ended, and alone larger than the bound')
  await publish(builds, about('two'), [LAST])
  t.equal(builds.list().length, 1)
})

t.test('a full disk fails the events that it did not take, and nothing else', async (t: Test) => {
  const path = await folderFor(t)
  const { builds } = await openBuilds(t, path)
  mkdirSync(dirname(logOf(path, 'one')), { recursive: true })
  await symlink('/dev/full', logOf(path, 'one'))
  t.match(await failure(publish(builds, about('one'), [progress('a'), progress('b')])), {
    code: 'RESOURCE_EXHAUSTED',
    message: /could not write the events: the disk is full/,
  })
  await publish(builds, about('two'), [LAST])
  await rm(logOf(path, 'one'))
  await publish(builds, about('one'), [progress('a'), LAST])
  t.equal((await recordsOf(builds, keyOf('', 'one'))).length, 3, 'the first record is there again')
  t.equal(builds.list().length, 2)
})

t.test('events that come faster than the disk takes them are in blocks that are read one by one', async (t) => {
  const path = await folderFor(t)
  const { builds } = await openBuilds(t, path)
  const text = 'a'.repeat(100_000)
  await publish(builds, about('fast'), [...Array.from({ length: 300 }, () => progress(text)), LAST])
  const sizes: number[] = []
  const numbers: number[] = []
  for await (const { records } of readBlocks(logOf(path, 'fast'))) {
    let sizeBytes = 0
    for (const { number, event, stream } of records) {
      sizeBytes += event.length
      if (stream === Stream.tool) numbers.push(number)
    }
    sizes.push(sizeBytes)
  }
  t.ok(
    Math.max(...sizes) <= 2 ** 20 + text.length + 100,
    `${sizes.length} blocks, the largest of ${Math.max(...sizes)} bytes`,
  )
  t.same(
    numbers,
    Array.from({ length: 301 }, (_, at) => at + 1),
  )
  const file = await LogFile.open(logOf(path, 'fast'))
  t.match(file.state, { lastTool: 301, isFinished: true })
  await file.close()
})

t.test('thousands of small blocks are read with few reads, whatever their sizes', async (t) => {
  const path = join(await folderFor(t), 'one.log')
  const file = await LogFile.open(path)
  const textOf = (at: number): string => `${at} ${'x'.repeat(at % 100 === 99 ? 300_000 : at % 7)}`
  for (let at = 0; at < 500; at++) {
    const record = { stream: Stream.tool, number: at + 1, receivedMs: 5, event: progress(textOf(at)) }
    await file.append([record], { ...NO_STATE, lastTool: at + 1 })
  }
  await file.close()
  const handle = await open(path)
  const prototype = Object.getPrototypeOf(handle) as { read: (...args: unknown[]) => unknown }
  await handle.close()
  const { read } = prototype
  let reads = 0
  prototype.read = function (this: unknown, ...args: unknown[]) {
    reads += 1
    return read.apply(this, args)
  }
  t.teardown(() => Object.assign(prototype, { read }))
  let count = 0
  for await (const { records } of readBlocks(path))
    for (const { event } of records) if (event.equals(progress(textOf(count)))) count += 1
  t.equal(count, 500)
  t.ok(reads < 50, `${reads} reads`)
})

t.test('a second server cannot use the folder', async (t) => {
  const path = await folderFor(t)
  await openBuilds(t, path)
  t.match(await failure(openBuilds(t, path)), { code: 'FAILED_PRECONDITION', message: /is in use by another server/ })
})

t.test('a log emptied from outside is begun anew', async (t) => {
  const path = await folderFor(t)
  const { builds } = await openBuilds(t, path)
  await publish(builds, about('one'), [progress('a')])
  await truncate(logOf(path, 'one'), 0)
  t.match(await failure(publish(builds, about('one'), [progress('b')], 2)), { code: 'FAILED_PRECONDITION' })
  await publish(builds, about('one'), [progress('a'), LAST])
  t.equal((await stat(logOf(path, 'one'))).size > 0, true)
  t.equal((await recordsOf(builds, keyOf('', 'one'))).length, 3)
})
