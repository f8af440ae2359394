import fc from 'fast-check'
import t from 'tap'
import { Fits, type Fitting, type Found, isSooner } from '../../src/scheduler/simple/queue/fits.js'
import type { Execution } from '../../src/scheduler/simple/state/state.js'

/** Amounts that share few and many leading bits, up to the largest one. */
const amount = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.maxSafeNat(), fc.constant(Number.MAX_SAFE_INTEGER))

interface Entry extends Fitting {
  first: Pick<Execution, 'rank' | 'sequence' | 'priority'> & Execution
}

const executionOf = (rank: number, sequence: number, priority: number) =>
  ({ rank, sequence, priority }) as unknown as Entry['first']

const step = fc.record({
  kind: fc.constantFrom('add', 'add', 'add', 'remove', 'changed'),
  at: fc.nat(1_000),
  amounts: fc.tuple(amount, amount),
  rank: fc.integer({ min: 0, max: 9 }),
  priority: fc.integer({ min: -2, max: 2 }),
  room: fc.tuple(amount, amount),
})

const fits = ({ amounts }: Entry, room: readonly number[]): boolean =>
  amounts.every((amount, axis) => amount <= (room[axis] ?? -1))

t.test('after any changes a search finds the first of all that fit', async (t) => {
  let [compared, most] = [0, 0]
  const property = fc.property(
    fc.constantFrom(0, 1, 2),
    fc.array(step, { maxLength: 120, size: 'max' }),
    (axes, steps) => {
      const trie = new Fits<Entry>(axes)
      const all: Entry[] = []
      for (const [sequence, { kind, at, amounts, rank, priority, room }] of steps.entries()) {
        const own = amounts.slice(0, axes)
        const chosen = all[at % (all.length || 1)]
        if (kind === 'add' && !all.some((one) => String(one.amounts) === String(own))) {
          const made: Entry = { amounts: own, first: executionOf(rank, sequence, priority), node: -1 }
          all.push(made)
          trie.add(made)
        } else if (kind === 'remove' && chosen !== undefined) {
          all.splice(all.indexOf(chosen), 1)
          trie.remove(chosen)
        } else if (kind === 'changed' && chosen !== undefined) {
          // As a better priority of a waiting execution: the same one, at another place in the order.
          chosen.first.rank = rank
          trie.changed(chosen)
        }
        most = Math.max(most, all.length)
        const found: Found = { best: undefined, urgent: Number.POSITIVE_INFINITY, steps: 0 }
        trie.search(room, found)
        const fitting = all.filter((one) => fits(one, room)).map(({ first }) => first)
        const best = fitting.toSorted((a, b) => (isSooner(a, b) ? -1 : 1))[0]
        if (found.best !== best) throw new Error(`found ${found.best?.sequence} instead of ${best?.sequence}`)
        const urgent = Math.min(...fitting.map((one) => one.priority))
        if (found.urgent !== urgent) throw new Error(`urgent ${found.urgent} instead of ${urgent}`)
        if (trie.isEmpty !== (all.length === 0)) throw new Error('empty or not')
        compared++
      }
    },
  )
  fc.assert(property, { numRuns: Number(process.env['REMEXEC_RUNS'] ?? 300), seed: 20_261_128 })
  t.ok(compared > 5_000, `${compared} searches`)
  t.ok(most > 30, `up to ${most} entries`)
})
