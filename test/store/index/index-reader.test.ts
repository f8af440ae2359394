import { once } from 'node:events'
import fc from 'fast-check'
import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { Digest } from '../../../src/reapi/digest.js'
import { DigestBatch } from '../../../src/reapi/digest-batch.js'
import { type DigestFunction, digestFunctions } from '../../../src/reapi/digest-function.js'
import { Invocations } from '../../../src/rpc/invocations.js'
import { ABSENT, BlobIndex } from '../../../src/store/index/blob-index.js'
import { type FoundBlob, IndexReader } from '../../../src/store/index/index-reader.js'
import { SharedIndexMemory } from '../../../src/store/index/memory.js'
import { startThread } from '../../built.js'
import { during } from '../../until.js'
import { extraOf, numbered } from './numbered.js'

const NOW_S = 1_000_000
const MAX_BYTES = 1000

const shared = (maxBytes = 0) => {
  const clock = new ManualClock(NOW_S * 1000)
  const policy = { max_bytes: maxBytes, evict_bytes: 0, max_seconds: 0, max_count: 0 }
  const invocations = new Invocations(clock)
  const promises = { retentionS: 3600, whenFull: 'break', invocations } as const
  const index = new BlobIndex({ policy, clock, promises, shared: new SharedIndexMemory() })
  const put = (number: number, storedBytes = 1): number =>
    index.insert(numbered(number), storedBytes, 'file', extraOf(number, storedBytes))
  const drop = (number: number): void => index.remove(index.find(numbered(number)))
  return { clock, index, invocations, put, drop, reader: new IndexReader(index.share()) }
}

t.test('memory that cannot be had is an error that says how much was wanted, and the index goes on', async (t) => {
  const { index, put } = shared()
  const { SharedArrayBuffer: real } = globalThis
  t.teardown(() => {
    globalThis.SharedArrayBuffer = real
  })
  const none = class {
    constructor() {
      throw new RangeError('Array buffer allocation failed')
    }
  } as unknown as typeof SharedArrayBuffer
  // Numbers have hashes of all lengths, whose tails have memory of their own: first a tail is missing, then a table.
  let added = 0
  for (const lacks of ['records', 'tails', 'table']) {
    globalThis.SharedArrayBuffer = none
    t.throws(
      () => {
        for (; ; added++) put(added)
      },
      { code: 8, message: /wants \d+ bytes of memory beside the \d+ that it has/ },
      lacks,
    )
    globalThis.SharedArrayBuffer = real
    t.equal(index.find(numbered(added)), ABSENT)
    put(added++)
    t.equal([...index.slots()].length, index.count)
  }
  const reader = new IndexReader(index.share())
  for (let number = 0; number < added; number++) if (reader.find(numbered(number)) === undefined) t.fail(`${number}`)
})

t.test('a reader finds what the owner has, while arrays grow and slots are used again', async (t) => {
  const { index, put, drop, reader } = shared()
  // The table grows before the records do, and the records when no table does.
  for (let number = 0; number < 17_000; number++) {
    put(number)
    const isRead = number < 2000 || number > 15_500
    if (isRead && reader.find(numbered(number)) === undefined) t.fail(`blob ${number} is not found`)
  }
  const late = 40_000
  for (let number = 0; number < late; number++) put(number)
  for (let number = 0; number < late; number += 3) drop(number)
  for (let number = late; number < late + 5000; number++) put(number, 7)
  for (let number = 0; number < late + 5000; number++) {
    const slot = index.find(numbered(number))
    const found = reader.find(numbered(number))
    if (slot === ABSENT ? found !== undefined : found?.slot !== slot || found.extra !== index.extraOf(slot))
      t.fail(`blob ${number} is ${slot}, found ${JSON.stringify(found)}`)
  }
  const other = new IndexReader(index.share())
  t.match(other.find(numbered(late)), { storedBytes: 7, extra: extraOf(late, 7) }, 'a reader that begins later')
})

t.test('a reader tells digests apart that differ in one part only', async (t) => {
  const { SHA512, SHA256, BLAKE3 } = digestFunctions
  const digest = (hash: string, sizeBytes = 5, digestFunction: DigestFunction = SHA512): Digest =>
    Digest.parse({ hash, sizeBytes }, digestFunction)
  const long = 'a'.repeat(128)
  const pairs = {
    'the last digit': [digest(long), digest(`${long.slice(1)}b`)],
    'a digit in the middle': [digest(long), digest(`${'a'.repeat(40)}b${'a'.repeat(87)}`)],
    'the size': [digest(long), digest(long, 6)],
    'the upper word of the size': [digest(long), digest(long, 5 + 2 ** 32)],
    'the function': [digest('a'.repeat(64), 5, SHA256), digest('a'.repeat(64), 5, BLAKE3)],
  }
  for (const [name, [one, other]] of Object.entries(pairs) as [string, [Digest, Digest]][]) {
    const { index, reader } = shared()
    index.insert(one, 1)
    t.ok(reader.find(one), name)
    t.equal(reader.find(other), undefined, name)
  }
})

t.test('a reader that looks while an array is replaced has the new one afterwards', async (t) => {
  const { put, reader } = shared()
  const { add, load, wait } = Atomics
  const real = (): void => void Object.assign(Atomics, { add, load, wait })
  /** It has read the sequence number before the owner began. */
  const lookLate = (number: number): void => {
    let isFirst = true
    Atomics.load = ((words: Int32Array, at: number) => {
      const found = load(words, at)
      const shown = isFirst ? found & ~1 : found
      isFirst = false
      return shown
    }) as typeof load
    Atomics.wait = () => {
      throw new Error('it waits')
    }
    try {
      reader.find(numbered(number))
    } catch {}
    Object.assign(Atomics, { load, wait })
  }
  const count = 4000
  try {
    for (let number = 0; number < count; number++) {
      Atomics.add = ((words: Int32Array, at: number, by: number) => {
        lookLate(number)
        const found = add(words, at, by)
        lookLate(number)
        return found
      }) as typeof add
      put(number)
    }
  } finally {
    real()
  }
  for (let number = 0; number < count; number++)
    if (reader.find(numbered(number)) === undefined) t.fail(`blob ${number} is not found`)
})

t.test('missing: the absent ones in their order, and the others are used', async (t) => {
  const { index, put, reader } = shared()
  const digests = [1, 2, 3, 4].map(numbered)
  for (const number of [1, 3]) put(number)
  const batch = DigestBatch.of(digests)
  t.same([...reader.missing(batch, NOW_S + 100).digests()], [digests[1], digests[3]])
  const slots = [1, 3].map((number) => index.find(numbered(number)))
  t.same([...reader.takeUsed()].sort(), slots.toSorted())
  reader.missing(batch, NOW_S + 101)
  t.same([...reader.takeUsed()], [], 'the owner hears of a blob once in 16 seconds')
})

t.test('the owner learns of uses by others, but not of those of a blob that is gone', async (t) => {
  const { index, put, drop, reader } = shared()
  const [first, second] = [put(1), put(2)]
  reader.find(numbered(1), NOW_S + 500)
  reader.find(numbered(2), NOW_S + 500)
  drop(2)
  t.equal(put(3), second, 'its slot has another blob now')
  index.usedElsewhere(reader.takeUsed())
  t.equal(index.accessedOf(first), NOW_S + 500)
  t.equal(index.accessedOf(second), NOW_S)
})

t.test('uses and claims of a blob that is gone change nothing, also while its slot is free', async (t) => {
  const { index, invocations, put, drop, reader } = shared(MAX_BYTES)
  const slots = [1, 2, 3, 4].map((number) => put(number, 200))
  reader.find(numbered(2), NOW_S + 500)
  reader.find(numbered(3), NOW_S + 500)
  const [, second = ABSENT, third = ABSENT] = slots
  drop(2)
  index.usedElsewhere(reader.takeUsed())
  const invocation = invocations.touch('build')
  index.holdSlots(Int32Array.of(second, third), { invocation })
  t.equal(index.usage.promised?.heldBytes, 200, 'of the one that is there')
  t.equal(put(5, 300), second)
  t.equal(index.usage.promised?.heldBytes, 200, 'the next blob of the slot is not held')
  put(6, 900)
  const evicted: number[] = []
  for (let victim = index.victim(); victim !== ABSENT && evicted.length < 9; victim = index.victim()) {
    evicted.push(index.digestOf(victim).sizeBytes)
    if (index.evict(victim)) index.remove(victim)
  }
  t.same(evicted, [1, 4, 5, 3], 'in the order of their uses, what is held last')
})

t.test('a blob that another thread uses is not evicted, though the owner was not told', async (t) => {
  const { index, put, reader } = shared(MAX_BYTES)
  for (const number of [1, 2, 3]) put(number, 400)
  const victim = index.victim()
  t.equal(victim, index.find(numbered(1)))
  reader.find(numbered(1), NOW_S + 10)
  t.notOk(index.evict(victim))
  t.equal(index.victim(), index.find(numbered(2)), 'the next one goes')
  t.ok(index.evict(index.victim()))
  t.equal(reader.find(numbered(2), NOW_S + 10), undefined, 'from then on no thread finds it')
  index.remove(index.victim())
  t.equal(index.count, 2)
})

/** Runs `act` before the nth of the loads that `read` makes. Returns whether there were so many. */
const interrupted = <T>(
  nth: number,
  act: () => void,
  read: () => T,
): { readonly answer: T; readonly isReached: boolean } => {
  const { load } = Atomics
  let count = 0
  Atomics.load = ((words: Int32Array, at: number) => {
    if (count++ === nth) {
      Atomics.load = load
      act()
      Atomics.load = counting
    }
    return load(words, at)
  }) as typeof load
  const counting = Atomics.load
  try {
    return { answer: read(), isReached: count > nth }
  } finally {
    Atomics.load = load
  }
}

type Setting = ReturnType<typeof shared>

/** What the owner may do between any two loads of a reader that looks for blob 1, and what may be found then. */
const changes: readonly {
  readonly name: string
  readonly before: readonly number[]
  readonly act: (owner: Setting) => void
  /** Lengths; 0 is absent. */
  readonly may: readonly number[]
}[] = [
  { name: 'adds it', before: [2], act: ({ put }) => void put(1), may: [0, 1] },
  { name: 'replaces it', before: [1, 2], act: ({ put }) => void put(1, 9), may: [1, 9] },
  { name: 'removes it', before: [1, 2], act: ({ drop }) => drop(1), may: [1, 0] },
  {
    name: 'moves its record',
    before: [1],
    act: ({ index }) => index.setExtra(index.find(numbered(1)), extraOf(1, 1)),
    may: [1],
  },
  {
    name: 'uses its slot for another',
    before: [1],
    act: ({ drop, put }) => {
      drop(1)
      put(2, 9)
    },
    may: [1, 0],
  },
  {
    name: 'puts it into another slot',
    before: [1],
    act: ({ drop, put }) => {
      drop(1)
      put(2, 9)
      put(1, 5)
    },
    may: [1, 5],
  },
  {
    name: 'grows the table and the records',
    before: [1],
    act: ({ put }) => {
      for (let number = 100; number < 20_000; number += 1) put(number)
    },
    may: [1],
  },
]

for (const { name, before, act, may } of changes)
  t.test(`between any two loads of a reader the owner ${name}: it finds what was there before or after`, async (t) => {
    for (let nth = 0, isReached = true; isReached; nth++) {
      const owner = shared()
      for (const number of before) owner.put(number)
      const result = interrupted<FoundBlob | undefined>(
        nth,
        () => act(owner),
        () => owner.reader.find(numbered(1)),
      )
      isReached = result.isReached
      const { answer } = result
      if (!may.includes(answer?.storedBytes ?? 0) || (answer && answer.extra !== extraOf(1, answer.storedBytes)))
        t.fail(`at load ${nth} it found ${JSON.stringify(answer)}`)
    }
  })

const NUMBERS = 6

/** What the owner has, by number: lengths. */
type Held = ReadonlyMap<number, number>

/** One change of the owner, as long as its turn allows. */
const change = fc.record({
  kind: fc.constantFrom('put', 'put', 'put', 'drop', 'evict', 'move', 'use', 'grow'),
  number: fc.nat(NUMBERS - 1),
  length: fc.integer({ min: 1, max: 9 }),
})

const applied = ({ index, put, drop }: Setting, held: Held, { kind, number, length }: Change): Held => {
  const next = new Map(held)
  const slot = index.find(numbered(number))
  if (kind === 'put') {
    put(number, length)
    next.set(number, length)
  } else if (kind === 'grow') {
    for (let other = 100 * (number + 1); other < 100 * (number + 2); other++) put(other)
  } else if (slot === ABSENT) return held
  else if (kind === 'drop' || (kind === 'evict' && index.evict(slot))) {
    if (kind === 'drop') drop(number)
    else index.remove(slot)
    next.delete(number)
  } else if (kind === 'move') index.setExtra(slot, index.extraOf(slot))
  else if (kind === 'use') index.touch(slot)
  return next
}
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never

t.test(
  'any changes of the owner at any step of a lookup: each blob is found as it was at one moment of it',
  async (t) => {
    const lookup = fc.record({
      before: fc.array(change, { maxLength: 12 }),
      during: fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
      asked: fc.uniqueArray(fc.nat(NUMBERS - 1), { minLength: 1, maxLength: 4 }),
      isBatch: fc.boolean(),
      from: fc.nat(60),
      every: fc.integer({ min: 1, max: 30 }),
    })
    let met = 0
    const holds = fc.property(lookup, ({ before, during, asked: all, isBatch, from, every }) => {
      // A batch is of one function.
      const asked = isBatch ? all.filter((number) => numbered(number).function === numbered(all[0] ?? 0).function) : all
      const owner = shared()
      let held: Held = new Map()
      for (const one of before) held = applied(owner, held, one)
      const moments: Held[] = [held]
      const { load } = Atomics
      const left = [...during]
      let step = 0
      Atomics.load = ((words: Int32Array, at: number) => {
        const isDue = step >= from && (step - from) % every === 0
        step++
        const changes = isDue ? left.shift() : undefined
        if (changes !== undefined) {
          met++
          const inside = Atomics.load
          Atomics.load = load
          for (const one of changes) {
            held = applied(owner, held, one)
            moments.push(held)
          }
          Atomics.load = inside
        }
        return load(words, at)
      }) as typeof load
      const digests = asked.map(numbered)
      let found: readonly (number | undefined)[]
      try {
        if (isBatch) {
          const missing = new Set(owner.reader.missing(DigestBatch.of(digests), NOW_S + 10).digests())
          found = digests.map((digest) => (missing.has(digest) ? undefined : 0))
        } else
          found = asked.map((number) => {
            const blob = owner.reader.find(numbered(number), NOW_S + 10)
            if (blob !== undefined && blob.extra !== extraOf(number, blob.storedBytes)) throw new Error('a torn record')
            return blob?.storedBytes
          })
      } finally {
        Atomics.load = load
      }
      for (const [at, number] of asked.entries()) {
        const isRight = (moment: Held): boolean =>
          found[at] === 0 ? moment.has(number) : moment.get(number) === found[at]
        if (!moments.some(isRight)) throw new Error(`blob ${number} was found as ${found[at]}`)
      }
      // The owner learns of each use of what is still there, and of no other.
      owner.index.usedElsewhere(owner.reader.takeUsed())
      for (const [at, number] of asked.entries()) {
        const slot = owner.index.find(numbered(number))
        const isKnown = slot !== ABSENT && owner.index.accessedOf(slot) === NOW_S + 10
        if (moments.length === 1 && isKnown !== (found[at] !== undefined))
          throw new Error(`the use of ${number} is lost`)
      }
      for (let number = 0; number < NUMBERS; number++)
        if (owner.reader.find(numbered(number))?.storedBytes !== held.get(number))
          throw new Error(`blob ${number} is not as the owner has it`)
    })
    fc.assert(holds, { numRuns: 300 })
    t.ok(met > 100, `${met} times in the midst`)
  },
)

t.test('between any two loads of a reader the owner evicts the blob: it is spared, or not found', async (t) => {
  const outcomes = new Set<string>()
  for (let nth = 0, isReached = true; isReached; nth++) {
    const { index, put, reader } = shared(MAX_BYTES)
    for (const number of [1, 2, 3]) put(number, 400)
    const slot = index.victim()
    let isEvicted = false
    // The owner frees the blob later in its turn, while readers go on.
    const evict = (): void => {
      isEvicted = index.evict(slot)
    }
    const result = interrupted(nth, evict, () => reader.find(numbered(1), NOW_S + 10))
    isReached = result.isReached
    if (!isReached) evict()
    if (isEvicted) index.remove(slot)
    const outcome = `${isEvicted ? 'evicted' : 'spared'}, ${result.answer === undefined ? 'absent' : 'found'}`
    outcomes.add(outcome)
  }
  t.same([...outcomes].sort(), ['evicted, absent', 'spared, found'])
})

t.test('between any two steps of an eviction a reader uses the blob: it is spared, or not found', async (t) => {
  const { add, load, wait } = Atomics
  const outcomes = new Set<string>()
  for (let nth = 0, isReached = true; isReached; nth++) {
    const { index, put, reader } = shared(MAX_BYTES)
    for (const number of [1, 2, 3]) put(number, 400)
    const slot = index.victim()
    let isFound = false
    let step = 0
    const real = (): void => void Object.assign(Atomics, { add, load, wait })
    const stepping =
      <Step extends (...words: never[]) => number>(take: Step) =>
      (...words: Parameters<Step>): number => {
        if (step++ === nth) {
          real()
          // A reader that waits for the owner finds nothing before the end of the eviction.
          Atomics.wait = () => {
            throw new Error('it waits')
          }
          try {
            isFound = reader.find(numbered(1), NOW_S + 10) !== undefined
          } catch {}
          real()
          Object.assign(Atomics, { add: stepping(add), load: stepping(load) })
        }
        return take(...words)
      }
    Object.assign(Atomics, { add: stepping(add), load: stepping(load) })
    const isEvicted = index.evict(slot)
    real()
    isReached = step > nth
    outcomes.add(`${isEvicted ? 'evicted' : 'spared'}, ${isFound ? 'found' : 'absent'}`)
  }
  t.same([...outcomes].sort(), ['evicted, absent', 'spared, found'])
})

t.test('a reader does not look at a partition that the owner is changing', async (t) => {
  const { put, reader } = shared()
  put(1)
  const { add, wait } = Atomics
  let waited = 0
  Atomics.wait = (() => {
    waited++
    throw new Error('it waits')
  }) as typeof wait
  let isOpen = false
  Atomics.add = ((words: Int32Array, at: number, by: number) => {
    const found = add(words, at, by)
    isOpen = !isOpen
    if (isOpen) t.throws(() => reader.find(numbered(1)), { message: 'it waits' })
    return found
  }) as typeof add
  try {
    put(1, 2)
  } finally {
    Atomics.add = add
    Atomics.wait = wait
  }
  t.equal(waited, 1)
  t.match(reader.find(numbered(1)), { storedBytes: 2 })
})

t.test('a thread reads while the owner adds, replaces and removes', async (t) => {
  const { index, put, drop } = shared()
  const count = 3000
  const share = index.share()
  const worker = startThread(new URL('reading-thread.ts', import.meta.url), {
    workerData: { share, count, rounds: 600_000 },
    transferList: [share.port],
  })
  await once(worker, 'message')
  const answer = once(worker, 'message')
  let turn = 0
  await during(answer, () => {
    for (let step = 0; step < 500; step++) {
      const number = (turn * 500 + step * 31) % count
      if (index.find(numbered(number)) === ABSENT || step % 3 === 0) put(number, 1 + (step % 7))
      else drop(number)
    }
    turn += 1
  })
  const [{ wrong, found }] = await answer
  t.same(wrong, [])
  t.ok(found > 1000, `${found} were found`)
})
