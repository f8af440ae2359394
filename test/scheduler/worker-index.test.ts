import fc from 'fast-check'
import t from 'tap'
import { requirementOf } from '../../src/scheduler/simple/state/requirement.js'
import type { Worker } from '../../src/scheduler/simple/state/state.js'
import { hasRoom, newWorker } from '../../src/scheduler/simple/workers/pool.js'
import { WorkerIndex } from '../../src/scheduler/simple/workers/worker-index.js'
import { declared, type Pairs } from './bench.js'

const asking = (pairs: Pairs) =>
  requirementOf(
    pairs.map(([name, value]) => ({ name, value })),
    declared,
  )

/** Properties that count how often they are read. */
class Counting extends Map<string, readonly string[]> {
  static looks = 0

  override get(name: string): readonly string[] | undefined {
    Counting.looks++
    return super.get(name)
  }
}

const workerOf = (id: string, properties: readonly (readonly [string, readonly string[]])[]): Worker =>
  newWorker(id, { name: id, properties: new Counting(properties), maxInflightAttempts: 2 }, declared, 0)

const LINUX_4 = [
  ['os', 'linux'],
  ['cpu', '4'],
] as const

t.test('capable workers are found without checking every worker', async (t) => {
  const looksAmong = (others: number, sameAs: number): number => {
    const index = new WorkerIndex('least_recently_used')
    for (let at = 0; at < others; at++)
      index.add(
        workerOf(`other ${at}`, [
          ['os', [`os ${at}`]],
          ['cpu', ['8']],
        ]),
      )
    for (let at = 0; at < sameAs; at++)
      index.add(
        workerOf(`same ${at}`, [
          ['os', ['linux', 'Linux']],
          ['cpu', ['8']],
        ]),
      )
    Counting.looks = 0
    t.equal(index.choose(asking(LINUX_4), new Set())?.id, 'same 0')
    return Counting.looks
  }
  const looks = looksAmong(1, 1)
  t.ok(looks > 0)
  t.equal(looksAmong(3000, 1), looks, 'among 3,000 that offer other things')
  t.equal(looksAmong(1, 3000), looks, 'among 3,000 that offer the same')
})

t.test('choose returns a worker that can run the action if and only if one exists', async (t) => {
  const value = fc.constantFrom('linux', 'mac', 'windows')
  const amount = fc.nat(8).map(String)
  const offer = fc.record({ os: fc.uniqueArray(value), cpu: amount, pool: fc.boolean(), isBusy: fc.boolean() })
  const request = fc.record({ os: fc.option(value), cpu: fc.option(amount), pool: fc.boolean() })
  const holds = fc.property(
    fc.array(offer, { maxLength: 12 }),
    fc.array(request, { maxLength: 5 }),
    (offers, asked) => {
      const index = new WorkerIndex('most_recently_used')
      const workers = offers.map(({ os, cpu, pool, isBusy }, at) => {
        const worker = workerOf(`${at}`, [['os', os], ['cpu', [cpu]], ...(pool ? [['pool', ['x']] as const] : [])])
        if (isBusy) worker.inflight = 2
        index.add(worker)
        return worker
      })
      for (const { os, cpu, pool } of asked) {
        const pairs = [...(os ? [['os', os] as const] : []), ...(cpu ? [['cpu', cpu] as const] : [])]
        const requirement = asking([...pairs, ...(pool ? [['pool', ''] as const] : [])])
        const able = workers.filter((worker, at) => {
          const { os: oses = [], pool: has = false } = offers[at] ?? {}
          return hasRoom(worker, requirement) && (os === null || oses.includes(os)) && (!pool || has)
        })
        const chosen = index.choose(requirement, new Set())
        if (chosen === undefined ? able.length > 0 : !able.includes(chosen)) return false
      }
      return true
    },
  )
  t.doesNotThrow(() => fc.assert(holds, { numRuns: 300 }))
})
