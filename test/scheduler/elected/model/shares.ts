import type { Test } from 'tap'
import { Digest } from '../../../../src/reapi/digest.js'
import { digestFunctions } from '../../../../src/reapi/digest-function.js'
import type { ActionResults } from '../../../../src/scheduler/scheduler.js'
import { defaultSettings } from '../../settings.js'
import { MemoryBucket, SimulatedServer } from './servers.js'
import { type Plan, SimulatedClient, SimulatedWorker } from './workers.js'
import { Process, World } from './world.js'

/** By tenant: they ask for different parts of all actions at once. */
const ASKED = { main: 0.5, branch: 0.3, nightly: 0.2 }
const SMALLEST = 0.2
const CHANGES = 3

const planOf = (instanceName: string, at: number): Plan => {
  const actionDigest = Digest.of(Buffer.from(`${instanceName} ${at}`), digestFunctions.SHA256)
  const request = {
    ...{ instanceName, actionDigest, properties: [], priority: 0, invocation: `build of ${instanceName}` },
    ...{ doNotCache: true, skipCacheLookup: true },
  }
  return { kind: 'is not cached', takesMs: 40, request }
}

export const runShares = async (t: Test, actions: number): Promise<void> => {
  t.teardown(World.takeOver())
  const world = new World(1)
  const outside = new Process('outside', world)
  const bucket = new MemoryBucket(world)
  const servers: SimulatedServer[] = []
  const results: ActionResults = { find: async () => undefined, keep: async (_, response) => response }
  const settings = { ...defaultSettings, maxQueuedActions: actions, noWorkerTimeoutMs: 3_600_000 }
  const shared = { world, bucket, settings, results, servers, onNews: () => {}, onEnd: () => {} }
  let serial = 0
  const serve = (name: string) => new SimulatedServer(shared, name, ++serial)
  const plans = new Map<string, Plan>()
  const started = new Map(Object.keys(ASKED).map((tenant) => [tenant, 0]))
  let all = 0
  const seen = new Set<string>()
  const parts = {
    ...{ world, servers, onReport: () => {}, onAcknowledge: () => {}, onStart: () => {} },
    planOf: (key: string) => plans.get(key) as Plan,
    onSent: ({ request: { instanceName, actionDigest } }: { request: Plan['request'] }) => {
      // What was lost with a leader is given out once more.
      if (seen.has(actionDigest.key)) return
      seen.add(actionDigest.key)
      all += 1
      started.set(instanceName, (started.get(instanceName) ?? 0) + 1)
    },
  }
  for (const name of ['one', 'two']) serve(name)
  for (const name of ['w1', 'w2']) new SimulatedWorker(parts, name)
  await world.run(world.nowMs + 20_000)
  const clients = Object.entries(ASKED).flatMap(([tenant, part]) =>
    Array.from({ length: part * actions }, (_, at) => {
      const plan = planOf(tenant, at)
      plans.set(plan.request.actionDigest.key, plan)
      return new SimulatedClient(parts, outside, plan)
    }),
  )
  /** So many are given out until the smallest tenant has nothing that waits. */
  const whileAllWait = 3 * SMALLEST * actions
  const untilGivenOut = (count: number) => world.run(world.nowMs + 600_000, () => all >= count)
  for (let change = 1; change <= CHANGES; change++) {
    await untilGivenOut((change * whileAllWait) / (CHANGES + 1))
    const leader = servers.find(({ scheduler }) => scheduler.election().leads)
    t.ok(leader, `leader ${change} is killed after ${all} actions`)
    leader?.kill()
    world.after(3_000, outside, () => void serve(leader?.process.name ?? ''))
  }
  await untilGivenOut(whileAllWait * 0.95)
  for (const [tenant, count] of started) {
    const share = count / all
    t.ok(Math.abs(share - 1 / 3) < 0.1 / 3, `${tenant} got ${count} of ${all}`)
  }
  let ended = 0
  await world.run(world.nowMs + 3_600_000, () => {
    while (clients[ended]?.outcome !== undefined) ended += 1
    return ended === clients.length
  })
  t.same([...new Set(clients.map(({ outcome }) => outcome?.kind))], ['exit 0'])
  t.ok(servers.some(({ scheduler }) => scheduler.election().term > CHANGES))
  t.same(world.failures, [])
}
