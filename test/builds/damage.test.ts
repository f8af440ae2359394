import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { type About, keyOf } from '../../src/builds/about.js'
import type { Builds } from '../../src/builds/builds.js'
import { Stream } from '../../src/builds/log/record.js'
import { until } from '../until.js'
import { bazel, failure, folderFor, LAST, openBuilds, progress, recordsOf } from './harness.js'

// Summaries that are lost or damaged, and a process that was killed, at the shipped limits. An acknowledged event stays.

const DAY_MS = 24 * 3600 * 1000
const NOW_MS = 1_700_000_000_000

const about = (invocationId: string, parts: Partial<About> = {}): About => ({
  ...{ instance: '', invocationId, buildId: 'b', keywords: [], startedMs: NOW_MS },
  ...parts,
})

const EVENTS = [bazel({ started: { command: 'test' } }), progress('line 2'), progress('line 3')]

const publish = async (builds: Builds, of: About, events: readonly Buffer[], from = 1): Promise<void> => {
  const { invocation, leave } = await builds.join(of)
  await Promise.all(events.map((event, at) => invocation.append({ stream: Stream.tool, number: from + at, event })))
  await leave()
}

const summaryOf = (path: string, id: string): string => join(path, keyOf('', id).slice(0, 2), `${keyOf('', id)}.json`)

const idsIn = (builds: Builds): string[] =>
  builds
    .list()
    .map(({ summary }) => summary.about.invocationId)
    .sort()

/** Resolves once this many invocations are in the list. */
const listed = async (t: Test, builds: Builds, count: number): Promise<void> => {
  await until(() => builds.list().length >= count, `${count} in the list`)
  t.equal(builds.list().length, count)
}

const DAMAGES: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  'is lost': (path) => rm(path),
  'is cut off': async (path) => truncate(path, (await stat(path)).size - 7),
  'is empty': (path) => truncate(path, 0),
  'is null': (path) => writeFile(path, 'null'),
  'is of an older version': (path) => writeFile(path, '{"version":1}'),
  'is a folder': async (path) => {
    await rm(path)
    await mkdir(join(path, 'inside'), { recursive: true })
  },
}

for (const [how, damage] of Object.entries(DAMAGES))
  t.test(`a build whose summary ${how} is in the list again, with all of its events`, async (t) => {
    const path = await folderFor(t)
    const first = await openBuilds(t, path)
    await publish(first.builds, about('one'), [...EVENTS, LAST])
    await publish(first.builds, about('two'), [...EVENTS, LAST])
    const before = first.builds.list()
    await first.builds.close()
    await damage(summaryOf(path, 'one'))
    const second = await openBuilds(t, path)
    t.ok(await second.builds.find(keyOf('', 'one')), 'found at once')
    await listed(t, second.builds, 2)
    t.same(second.builds.list(), before)
    t.equal((await recordsOf(second.builds, keyOf('', 'one'))).length, 5)
    await second.builds.close()
    const third = await openBuilds(t, path)
    // The stop may have come before the summary was kept: then it is derived once more.
    await listed(t, third.builds, 2)
    t.same(third.builds.list(), before, 'after another start too')
  })

t.test('a summary with one flipped bit is derived again, wherever the bit is', async (t) => {
  const path = await folderFor(t)
  const first = await openBuilds(t, path)
  await publish(first.builds, about('one'), [...EVENTS, LAST])
  const before = first.builds.list()
  await first.builds.close()
  const whole = await readFile(summaryOf(path, 'one'))
  for (let bit = 0; bit < whole.length * 8; bit += 13) {
    const damaged = Buffer.from(whole)
    damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7))
    await writeFile(summaryOf(path, 'one'), damaged)
    const { builds } = await openBuilds(t, path)
    await builds.find(keyOf('', 'one'))
    t.same(builds.list(), before, `bit ${bit}`)
    await builds.close()
  }
})

t.test('a log that is damaged from its first block on fails its own page only', async (t) => {
  const path = await folderFor(t)
  const first = await openBuilds(t, path)
  await publish(first.builds, about('one'), EVENTS)
  await publish(first.builds, about('two'), EVENTS)
  await first.builds.close()
  const log = summaryOf(path, 'one').replace('.json', '.log')
  const bytes = await readFile(log)
  bytes[60] = (bytes[60] as number) ^ 1
  await writeFile(log, bytes)
  await rm(summaryOf(path, 'one'))
  const { builds } = await openBuilds(t, path)
  t.same(idsIn(builds), ['two'])
  t.match(await failure(builds.find(keyOf('', 'one'))), { code: 'DATA_LOSS' })
})

t.test('an old log without a summary goes by its age, and a new one stays', async (t) => {
  const path = await folderFor(t)
  const first = await openBuilds(t, path)
  await publish(first.builds, about('one'), EVENTS)
  await first.builds.close()
  await rm(summaryOf(path, 'one'))
  const second = await openBuilds(t, path, { maxAgeMs: DAY_MS })
  await listed(t, second.builds, 1)
  second.clock.advance(2 * DAY_MS)
  const folder = dirname(summaryOf(path, 'one'))
  await until(async () => {
    second.clock.advance(60_000)
    return (await readdir(folder)).length === 0
  }, 'an empty folder')
  t.same(idsIn(second.builds), [])
})

t.test('a flood of builds of one tenant removes only its own', async (t) => {
  const of = (instance: string, identity?: string) => (id: number) =>
    about(`${instance}-${id}`, { instance, startedMs: NOW_MS + id, ...(identity !== undefined && { identity }) })
  const countOf = (builds: Builds, instance: string): number =>
    builds.list().filter(({ summary }) => summary.about.instance === instance).length
  const flood = async (builds: Builds, makes: (id: number) => About, count: number): Promise<void> => {
    for (let id = 0; id < count; id++) await publish(builds, makes(id), [LAST])
  }
  for (const [who, quiet, loud] of [
    ['instances of one address, without security', of('a'), of('b')],
    ['callers', of('a', 'ann'), of('b', 'bob')],
    ['instances of one caller', of('a', 'ci'), of('b', 'ci')],
  ] as const) {
    const { builds } = await openBuilds(t, await folderFor(t), { maxInvocations: 10 })
    await flood(builds, quiet, 5)
    await flood(builds, loud, 30)
    t.equal(countOf(builds, 'a'), 5, who)
    t.equal(countOf(builds, 'b'), 5, who)
  }
  const { builds } = await openBuilds(t, await folderFor(t), { maxInvocations: 10 })
  await flood(builds, of('a', 'ann'), 5)
  for (let one = 0; one < 30; one++) await flood(builds, of(`b${one}`, 'bob'), 1)
  t.equal(countOf(builds, 'a'), 5, 'also if the tenant spreads it over instances')
})

t.test('without security a client that invents instances removes only its own builds', async (t) => {
  const { builds } = await openBuilds(t, await folderFor(t), { maxInvocations: 10 })
  const begin = async (invocationId: string, instance: string, address: string): Promise<void> => {
    const joined = await builds.join({ instance, invocationId, buildId: 'b', address, keywords: [], startedMs: 1 })
    await joined.invocation.append({ stream: Stream.tool, number: 1, event: LAST })
    await joined.leave()
  }
  for (let at = 0; at < 4; at++) await begin(`good-${at}`, 'main', '10.0.0.1')
  for (let at = 0; at < 30; at++) await begin(`flood-${at}`, `invented-${at}`, '10.0.0.2')
  t.equal(builds.list().filter(({ summary }) => summary.about.address === '10.0.0.1').length, 4)
  t.equal(builds.list().length, 10)
})

t.test('a flood of bytes of one tenant removes only its own, and its open builds leave room for others', async (t) => {
  const noise = (seed: number): Buffer =>
    progress(Array.from({ length: 400 }, (_, at) => ((at * 7919 + seed) * 104_729).toString(36)).join(''))
  const { builds } = await openBuilds(t, await folderFor(t), { maxBytes: 20_000 })
  await publish(builds, about('quiet', { instance: 'a', address: '10.0.0.1', startedMs: NOW_MS - 5 }), [noise(0), LAST])
  for (let id = 0; id < 15; id++)
    await publish(builds, about(`loud ${id}`, { instance: 'b', address: '10.0.0.2', startedMs: NOW_MS + id }), [
      noise(id),
      LAST,
    ])
  t.ok(await builds.find(keyOf('a', 'quiet')))
  t.ok(builds.list().length < 16)
  const loud = await builds.join(about('open', { instance: 'b', address: '10.0.0.2' }))
  t.teardown(() => loud.leave())
  let refused = 0
  for (let number = 1; number <= 30 && refused === 0; number++)
    try {
      await loud.invocation.append({ stream: Stream.tool, number, event: noise(number) })
    } catch {
      refused = number
    }
  t.ok(refused > 1, 'refused beyond three quarters')
  await publish(builds, about('small', { instance: 'a', address: '10.0.0.1' }), [noise(99), LAST])
  t.ok(await builds.find(keyOf('a', 'small')))
})
