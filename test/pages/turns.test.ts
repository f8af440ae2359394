/** However long a list or a file is, a turn of the event loop takes a bounded part of it. */
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import { profileIn } from '../../src/pages/builds/profile.js'
import { TraceEvents } from '../../src/pages/builds/trace-events.js'
import { mappedInTurns, sortedInTurns } from '../../src/pages/parts/in-turns.js'
import { TimeSlices } from '../../src/work/time-slices.js'
import { until } from '../until.js'

const MIB = 2 ** 20
const { signal } = new AbortController()

/** Gives up the turn at every step, and counts them. */
const everyStep = () => {
  const slices = new TimeSlices(0)
  const counted = { turns: 0, step: () => slices.step() }
  counted.step = () => {
    counted.turns += 1
    return slices.step()
  }
  return counted
}

t.test('a profile of 20 MB is read in hundreds of turns, and says what it left out', async (t) => {
  const work = (at: number) =>
    `{"ph":"X","name":"${'w'.repeat(150)}","cat":"c","tid":${at % 40},"ts":${at},"dur":${at + 1}}`
  const text = `{"traceEvents":[${Array.from({ length: 100_000 }, (_, at) => work(at)).join(',\n')}]}`
  for (const file of [Buffer.from(text), gzipSync(text)]) {
    const pauses = everyStep()
    const profile = await profileIn([file], signal, pauses as unknown as TimeSlices)
    if (typeof profile === 'string') throw new Error(profile)
    t.ok(pauses.turns >= text.length / (32 * 1024), `${pauses.turns} turns for ${text.length} bytes`)
    t.same([profile.works.length, profile.leftOut, profile.lanes.length], [1500, 98_500, 32])
    t.equal(profile.works[0]?.tookMs, 100, 'the longest is first')
  }
})

t.test('a profile that unpacks to more than is read is too large, not broken', async (t) => {
  const bomb = gzipSync(Buffer.concat([Buffer.from('['), Buffer.alloc(130 * MIB, ' '), Buffer.from(']')]))
  t.match(await profileIn([bomb], signal), 'The profile is too large to be shown here.')
})

t.test('a profile without end is read as it comes, no further than it may be, and its source is closed', async (t) => {
  const blanks = Buffer.alloc(MIB, ' ')
  for (const [what, chunk] of [
    ['plain', blanks],
    ['packed', gzipSync(blanks)],
  ] as const) {
    let [taken, isClosed] = [0, false]
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (;;) {
          taken += 1
          yield chunk
        }
      } finally {
        isClosed = true
      }
    }
    t.equal(await profileIn(endless(), signal), 'The profile is too large to be shown here.', what)
    t.ok(taken < 256, `${taken} MiB taken`)
    await until(() => isClosed, 'a closed source')
  }
})

t.test('what fails while a profile is read is no fault of the profile', async (t) => {
  for (const begin of [Buffer.from('[{"ph":"X"'), gzipSync('[{"ph":"X"}]').subarray(0, 12), Buffer.of(0x1f)]) {
    async function* broken(): AsyncGenerator<Buffer> {
      yield begin
      throw new StatusError('DATA_LOSS', 'the disk is broken')
    }
    await t.rejects(profileIn(broken(), signal), { message: 'the disk is broken' })
  }
})

t.test('an event of megabytes is left out, and those beside it are read, wherever the file is cut', async (t) => {
  const texts = ['{"ph":"M","args":{"name":"\\"]}\\\\"}}', `{"name":"${'x'.repeat(MIB)}"}`, '{"a":[{"b":{}}]}', '{}']
  const file = Buffer.from(
    `{"otherData":{"traceEvents":[{"no":1}]},"traceEvents" : [${texts.join(' , ')}],"more":[{"no":2}]}`,
  )
  for (const pieceBytes of [1000, 7919, file.length]) {
    const events = new TraceEvents()
    const found: unknown[] = []
    for (let at = 0; at < file.length; at += pieceBytes) found.push(...events.take(file.subarray(at, at + pieceBytes)))
    events.end()
    t.same(
      found,
      [texts[0], texts[2], texts[3]].map((text) => JSON.parse(text ?? '')),
      `in pieces of ${pieceBytes}`,
    )
    t.equal(events.leftOut, 1)
  }
})

t.test('a list is sorted in turns, as the language sorts it', async (t) => {
  let seed = 1
  const keys = Array.from({ length: 20_000 }, (_, at) => {
    seed = (seed * 48_271) % 2_147_483_647
    return { key: seed % 1000, at }
  })
  const compare = (a: { key: number }, b: { key: number }): number => a.key - b.key
  const pauses = everyStep()
  t.same(await sortedInTurns(keys, compare, pauses), [...keys].sort(compare), 'equal keys keep their order')
  t.ok(pauses.turns > 20_000 / 1024, `${pauses.turns} turns`)
  const mapping = everyStep()
  t.equal((await mappedInTurns(keys, ({ at }) => (at % 2 === 0 ? at : undefined), mapping)).length, 10_000)
  t.ok(mapping.turns >= 150, `${mapping.turns} turns`)
  t.same(await sortedInTurns([], compare), [])
})

const usedUs = (): number => {
  // biome-ignore lint/plugin: CPU time, which a loaded machine does not add to, compared with that of the same work at once
  const { user, system } = process.cpuUsage()
  return user + system
}

/** The most CPU time between two turns of the event loop while `work` runs: how long others wait at least. */
const longestTurnUs = async (work: () => Promise<unknown>): Promise<number> => {
  await new Promise<void>((resolve) => setImmediate(resolve))
  let [beforeUs, mostUs, isOver] = [usedUs(), 0, false]
  const look = (): void => {
    const nowUs = usedUs()
    mostUs = Math.max(mostUs, nowUs - beforeUs)
    beforeUs = nowUs
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await work()
  isOver = true
  look()
  return mostUs
}

t.test('the longest turn is a small part of what the same work takes at once', async (t) => {
  const work = (at: number) => `{"ph":"X","name":"${'w'.repeat(100)}","tid":${at % 40},"ts":${at},"dur":${at + 1}}`
  const file = Buffer.from(`[${Array.from({ length: 300_000 }, (_, at) => work(at)).join(',')}]`)
  const rows = Array.from({ length: 150_000 }, (_, at) => `//package/${(at * 7919) % 150_001}:target`)
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
  const tried: readonly (readonly [what: string, atOnce: () => unknown, inTurns: () => Promise<unknown>])[] = [
    ['a profile', () => JSON.parse(file.toString()), () => profileIn([file], signal)],
    ['a list', () => [...rows].sort(compare), () => sortedInTurns(rows, compare)],
  ]
  for (const [what, atOnce, inTurns] of tried) {
    const old = await longestTurnUs(async () => atOnce())
    const now = await longestTurnUs(inTurns)
    t.ok(now < old / 4, `${what}: ${now} us of CPU time in the longest turn, ${old} us at once`)
  }
})
