import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { Code, StatusError } from '../../../src/base/status-error.js'
import { getBytes, missingOf, type Store } from '../../../src/blobs/store.js'
import type { Digest } from '../../../src/reapi/digest.js'
import { until } from '../../until.js'
import { bytesOf, call, digestOf, put } from '../blobs.js'
import { Crew } from './crew.js'

/** Real threads beside the owner, which this one is. */
const THREADS = 3
/** Operations in flight, each of another thread than the one before. */
const LANES = 6
const KEYS = 24
const COUNT_MAX = 10
/** Uses within a period of so many seconds have no order: the owner hears of the first only. */
const PERIOD_S = 16

const crew = await Crew.start(THREADS)
t.teardown(() => crew.stop())

/** Numbers below a bound, the same for each start with this seed. */
const numbersFrom = (seed: number): ((below: number) => number) => {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Upload of a form, or removal, of one key. In the order of the test, which sees both ends of each operation. */
interface Write {
  /** 0 is absent. */
  readonly form: number
  readonly begun: number
  ended: number
}

const NEVER = Number.POSITIVE_INFINITY

/** What a key may hold at any time, from the ends of the writes that this test has seen. */
class Key {
  readonly digest: Digest
  #writes: Write[] = [{ form: 0, begun: 0, ended: 0 }]
  /** The second before which its last use was over that is certain, and the last that is possible. */
  usedS = 0
  maybeUsedS = 0

  constructor(number: number) {
    this.digest = digestOf(Buffer.from(`key ${number}`)).asKey()
  }

  begin(form: number, at: number): Write {
    const write: Write = { form, begun: at, ended: NEVER }
    this.#writes.push(write)
    return write
  }

  /** The forms that an operation may have found that began and ended then. */
  possible(begun: number, ended: number): ReadonlySet<number> {
    const mayBeSeen = (write: Write): boolean =>
      write.begun < ended && !this.#writes.some((later) => write.ended < later.begun && later.ended < begun)
    return new Set(this.#writes.filter(mayBeSeen).map(({ form }) => form))
  }

  /** Forgets what nobody can find any more who begins from now on. */
  sweep(oldest: number): void {
    const forms = this.#writes.filter(
      (write) => !this.#writes.some((later) => write.ended < later.begun && later.ended < oldest),
    )
    this.#writes = forms
  }
}

/** Records and files, of each size several. */
const contentOf = (key: number, form: number): Buffer =>
  bytesOf(form % 2 === 0 ? 20 + form : 1500 + form, `${key} ${form}`)

for (const [name, count] of [
  ['nothing is evicted', 0],
  ['most is evicted', COUNT_MAX],
] as const)
  for (const seed of [1, 2, 3])
    t.test(
      `uploads, lookups, reads and removals by ${THREADS} threads agree with a model, ${name}, seed ${seed}`,
      async (t) => {
        const clock = new ManualClock(1_000_000_000)
        const nowS = (): number => clock.now() / 1000
        const parts = { clock, policy: { max_count: count }, small_blob_size: 1000, small_blob_cache_size: 3000 }
        const { store, threads, usage, close } = await crew.open(t.testdir(), parts)
        const pick = numbersFrom(seed)
        const keys = Array.from({ length: KEYS }, (_, number) => new Key(number))
        let time = 0
        let forms = 0
        const seen = { found: 0, absent: 0, evicted: 0, moved: 0 }
        const running = new Set<number>()

        /** Whether so few others were used since, that this one cannot be among the oldest. */
        const cannotBeEvicted = (key: Key, usedS: number): boolean => {
          if (count === 0) return true
          const others = keys.filter((other) => other !== key && other.maybeUsedS >= usedS - PERIOD_S)
          return others.length < count
        }
        const checkAbsent = (key: Key, begun: number, usedBeforeS: number, what: string): void => {
          seen.absent++
          if (key.possible(begun, time).has(0)) return
          if (cannotBeEvicted(key, usedBeforeS))
            t.fail(`${what} did not find ${key.digest.key}, last used at ${usedBeforeS}`)
          seen.evicted++
        }
        const used = (key: Key, sinceS: number): void => {
          key.usedS = Math.max(key.usedS, sinceS)
        }
        const find = async (thread: Store, some: readonly Key[]): Promise<void> => {
          const [begun, sinceS] = [time++, nowS()]
          const before = some.map(({ usedS }) => usedS)
          for (const key of some) key.maybeUsedS = Math.max(key.maybeUsedS, sinceS)
          const missing = new Set(
            (
              await missingOf(
                thread,
                some.map(({ digest }) => digest),
                call,
              )
            ).map(({ key }) => key),
          )
          time++
          for (const [at, key] of some.entries()) {
            key.maybeUsedS = Math.max(key.maybeUsedS, nowS())
            if (missing.has(key.digest.key)) checkAbsent(key, begun, before[at] as number, 'a lookup')
            else {
              used(key, sinceS)
              const possible = key.possible(begun, time)
              if (possible.size === 1 && possible.has(0)) t.fail(`${key.digest.key} was found, which was removed`)
            }
          }
        }
        const read = async (thread: Store, number: number): Promise<void> => {
          const key = keys[number] as Key
          const [begun, sinceS, before] = [time++, nowS(), key.usedS]
          key.maybeUsedS = Math.max(key.maybeUsedS, sinceS)
          try {
            const content = await getBytes(thread, key.digest, 10_000, call)
            time++
            key.maybeUsedS = Math.max(key.maybeUsedS, nowS())
            used(key, sinceS)
            seen.found++
            const isPossible = [...key.possible(begun, time)].some(
              (form) => form > 0 && contentOf(number, form).equals(content),
            )
            if (!isPossible) t.fail(`${key.digest.key} has bytes that it had before or never`)
          } catch (error) {
            if (!(error instanceof StatusError) || error.code !== Code.NOT_FOUND) throw error
            time++
            checkAbsent(key, begun, before, 'a read')
          }
        }
        const upload = async (thread: Store, number: number): Promise<void> => {
          const key = keys[number] as Key
          const form = ++forms
          const sinceS = nowS()
          key.maybeUsedS = Math.max(key.maybeUsedS, sinceS)
          const write = key.begin(form, time++)
          await put(thread, key.digest, contentOf(number, form))
          write.ended = time++
          key.maybeUsedS = Math.max(key.maybeUsedS, nowS())
          used(key, sinceS)
        }
        const remove = async (number: number): Promise<void> => {
          const key = keys[number] as Key
          const write = key.begin(0, time++)
          await store.remove(key.digest, 'unwanted', call)
          write.ended = time++
        }

        const step = async (thread: Store): Promise<void> => {
          // A few keys are used by all, so that operations on one of them overlap.
          const number = pick(2) === 0 ? pick(4) : pick(KEYS)
          const kind = pick(20)
          if (kind < 6) await upload(thread, number)
          else if (kind < 11) await read(thread, number)
          else if (kind < 17)
            await find(
              thread,
              Array.from({ length: 1 + pick(4) }, (_, at) => keys[(number + at * 5) % KEYS] as Key),
            )
          else if (kind < 18) await remove(number)
          else {
            clock.advance(1000 * pick(40))
            crew.follow(clock)
            seen.moved++
          }
        }
        const lane = async (first: number): Promise<void> => {
          for (let round = 0; round < 150; round++) {
            const begun = time++
            running.add(begun)
            await step(threads[(first + round) % THREADS] as Store)
            running.delete(begun)
            for (const key of keys) key.sweep(Math.min(time, ...running))
          }
        }
        await Promise.all(Array.from({ length: LANES }, (_, at) => lane(at)))
        // Now everything is at rest: the owner and the threads know the same.
        await until(() => !(count > 0 && usage().entryCount > count))
        const digests = keys.map(({ digest }) => digest)
        const known = await Promise.all(threads.map((thread) => missingOf(thread, digests, call)))
        for (const missing of known) {
          t.same(
            missing.map(({ key }) => key),
            known[0]?.map(({ key }) => key),
          )
          t.equal(KEYS - missing.length, usage().entryCount)
        }
        for (const thread of threads) for (const number of keys.keys()) await read(thread, number)
        t.comment(JSON.stringify({ ...seen, evictedCount: usage().evictedCount }))
        t.ok(seen.found > 100 && seen.moved > 20)
        if (count > 0) t.ok(seen.evicted > 20 && usage().evictedCount > 20)
        await close()
      },
    )
