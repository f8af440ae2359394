/**
 * What befalls real servers with one queue, behind HAProxy, with an election by Redis with three sentinels, while clients keep their
 * workers busy. `REMEXEC_TRIALS` says how often each of it; `REMEXEC_TRIAL` chooses by a part of the name.
 */
import { readFileSync, writeFileSync } from 'node:fs'
// biome-ignore lint/plugin: how long a fault lasts
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { PatientClient } from '../../chaos/client.js'
import type { Program } from '../../cli/program.js'
import { buildAction } from '../../service/execution-harness.js'
import { ask, type RedisServer, startSentinels, withoutRedis } from '../../store/kinds/redis_store/redis.js'
import { folderOf } from '../../store/remote/backend.js'
import type { Way } from '../../store/remote/proxy.js'
import { until, untilSo } from '../../until.js'
import { startHaproxy, withoutHaproxy } from './haproxy.js'
import { QueueOfServers, type Server } from './queue-of-servers.js'

// For changes in: src/scheduler/elected, src/scheduler/fronts, src/service/worker-api

const TRIALS = Number(process.env['REMEXEC_TRIALS'] ?? 1)
const CHOSEN = process.env['REMEXEC_TRIAL'] ?? ''
/** Twice the slots of all workers. */
const LANES = 16
const LEASE_MS = 3_000
const PAUSE_MS = 2 * LEASE_MS
/** Longer than a server takes to notice it. */
const CUT_MS = 18_000

/** A queue that is busy until it is told to stop. */
class Trials {
  readonly #client: PatientClient
  readonly #trace: string
  #isOver = false
  #lanes: Promise<void>[] = []
  asked = 0
  ended = 0
  /** From the end of a leader to the next dispatch, in milliseconds. */
  readonly pausesMs: number[] = []

  constructor(
    readonly queue: QueueOfServers,
    readonly workers: Program[],
    readonly redis: readonly RedisServer[],
    trace: string,
  ) {
    this.#client = new PatientClient(queue.address)
    this.#trace = trace
    writeFileSync(trace, '')
  }

  get client(): PatientClient {
    return this.#client
  }

  begin(): void {
    this.#lanes = Array.from({ length: LANES }, () => this.#lane())
  }

  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#lanes)
    this.#client.close()
  }

  /** When actions began to run, with their names. */
  get runs(): readonly { readonly name: string; readonly beganMs: number }[] {
    const lines = readFileSync(this.#trace, 'utf8').trim().split('\n')
    return lines.map((line) => {
      const [name = '', beganNs = ''] = line.split(' ')
      return { name, beganMs: Number(beganNs) / 1e6 }
    })
  }

  /** Actions that nobody had asked for at the time begin and end. */
  async goesOn(): Promise<void> {
    const before = this.asked
    await until(() => this.ended >= before, 'the end of all that was asked for before')
  }

  /** Waits for another leader, and notes how long nothing was begun. */
  async takenOver(endedMs: number, termBefore: number): Promise<void> {
    const { queue } = this
    let ledMs = 0
    await until(() => {
      ledMs = Date.now()
      return queue.servers.some((server) => queue.term(server) > termBefore)
    }, 'another leader')
    let begun: number | undefined
    await until(() => {
      begun = this.runs.find(({ beganMs }) => beganMs >= ledMs - 100)?.beganMs
      return begun !== undefined
    }, 'an action of the next leader')
    this.pausesMs.push((begun ?? 0) - endedMs)
  }

  /** Of actions, until the end is near. */
  *#names(): Generator<string> {
    while (!this.#isOver) yield `a${this.asked++}`
  }

  async #lane(): Promise<void> {
    for (const name of this.#names()) {
      const script = `echo ${name} $(date +%s%N) >> ${this.#trace}; sleep 0.$((${this.asked} % 5 + 1)); echo ${name}`
      const built = buildAction({
        command: {
          arguments: ['sh', '-c', script],
          environmentVariables: [{ name: 'PATH', value: '/usr/bin:/bin' }],
        },
      })
      await this.#client.upload(built)
      const { result } = await this.#client.run(built)
      if (result?.exitCode !== 0) throw new Error(`${name} came to ${result?.exitCode}`)
      this.ended += 1
    }
  }
}

interface Trial {
  readonly name: string
  run(trials: Trials): Promise<void>
}

const leaderOf = ({ queue }: Trials): Server => {
  const leader = queue.leader()
  if (leader === undefined) throw new Error('nobody leads')
  return leader
}

const termOf = ({ queue }: Trials): number => Math.max(...queue.servers.map((server) => queue.term(server)))

const kill = (which: 'leader' | 'follower', signal: 'SIGKILL' | 'SIGTERM'): Trial => ({
  name: `${which} ended by ${signal}`,
  run: async (trials) => {
    const { queue } = trials
    const server = which === 'leader' ? leaderOf(trials) : queue.follower()
    const [term, endedMs] = [termOf(trials), Date.now()]
    server.process.child.kill(signal)
    if (which === 'leader') await trials.takenOver(endedMs, term)
    await server.process.ended
    queue.restart(server)
    await server.process.hears(/remexec serving/)
  },
})

const pause = (which: 'leader' | 'follower'): Trial => ({
  name: `${which} paused beyond its lease`,
  run: async (trials) => {
    const { queue } = trials
    const { child } = (which === 'leader' ? leaderOf(trials) : queue.follower()).process
    const [term, endedMs] = [termOf(trials), Date.now()]
    child.kill('SIGSTOP')
    const pausedUntil = sleep(PAUSE_MS)
    if (which === 'leader') await trials.takenOver(endedMs, term)
    await pausedUntil
    child.kill('SIGCONT')
  },
})

const worker = (what: 'killed' | 'paused'): Trial => ({
  name: `worker ${what}`,
  run: async ({ workers, queue }) => {
    const [first] = workers
    if (first === undefined) throw new Error('no worker')
    if (what === 'paused') {
      first.child.kill('SIGSTOP')
      await sleep(PAUSE_MS)
      first.child.kill('SIGCONT')
      return
    }
    first.child.kill('SIGKILL')
    await first.ended
    workers[0] = queue.worker('w0')
  },
})

const cut = (...ways: readonly Way[]): Trial => ({
  name: `way to the leader cut: ${ways.join(' and ')}`,
  run: async (trials) => {
    const { relay } = leaderOf(trials)
    relay?.stall(...ways)
    await sleep(CUT_MS)
    relay?.stall()
  },
})

const TRIALS_OF_ONE: readonly Trial[] = [
  kill('leader', 'SIGKILL'),
  kill('leader', 'SIGTERM'),
  pause('leader'),
  kill('follower', 'SIGKILL'),
  pause('follower'),
  worker('killed'),
  worker('paused'),
  cut('there'),
  cut('back'),
  cut('there', 'back'),
  {
    name: 'Redis forgets everything',
    run: async (trials) => {
      for (const { port } of trials.redis) await ask(port, 'FLUSHALL').catch(() => {})
    },
  },
  {
    name: 'Redis fails over',
    run: async (trials) => {
      const roles = trials.redis.map(async (server) => [server, String(await ask(server.port, 'ROLE'))] as const)
      const [primary] = (await Promise.all(roles)).find(([, role]) => role.startsWith('master')) ?? []
      const other = trials.redis.find((server) => server !== primary)
      primary?.pause()
      await untilSo(async () => String(await ask(other?.port ?? 0, 'ROLE')).startsWith('master'), 'another primary')
      primary?.resume()
      await untilSo(async () => String(await ask(primary?.port ?? 0, 'ROLE')).startsWith('slave'), 'its replica')
    },
  },
  {
    name: 'both servers restarted in turn',
    run: async (trials) => {
      for (const server of trials.queue.servers) {
        server.process.child.kill('SIGTERM')
        await server.process.ended
        trials.queue.restart(server)
        await server.process.hears(/remexec serving/)
      }
    },
  },
]

const open = async (t: Test): Promise<Trials> => {
  const { master, replica, address } = await startSentinels(t)
  const locks = JSON.stringify({
    redis_store: { mode: 'sentinel', addresses: [address], key_prefix: 'q:', command_timeout_ms: 2_000 },
  })
  const engine = { locks, backend: `{ redis: { redis_store: 'LOCKS' } }` }
  const balancer = (ports: readonly number[]) => startHaproxy(t, ports)
  const queue = await QueueOfServers.start(t, 2, { engine, balancer, isRelayed: true, lease: String(LEASE_MS / 1000) })
  const workers = ['w0', 'w1'].map((name) => queue.worker(name))
  await Promise.all(workers.map(({ hears }) => hears(/connected to the scheduler/)))
  return new Trials(queue, workers, [master, replica], `${await folderOf(t)}/trace`)
}

t.test('servers with one queue, whatever befalls them', { skip: withoutRedis || withoutHaproxy }, async (t) => {
  t.setTimeout(3_600_000)
  const trials = await open(t)
  trials.begin()
  await trials.goesOn()
  for (let round = 0; round < TRIALS; round++) {
    for (const trial of TRIALS_OF_ONE.filter(({ name }) => name.includes(CHOSEN))) {
      await t.test(`${trial.name}, ${round + 1}`, async (t) => {
        const takeOvers = trials.pausesMs.length
        await trial.run(trials)
        await trials.goesOn()
        const pauses = trials.pausesMs.slice(takeOvers).map((ms) => `, nothing began for ${Math.round(ms)} ms`)
        t.pass(`${trials.ended} have ended${pauses.join('')}`)
      })
    }
  }
  await trials.end()
  t.equal(trials.ended, trials.asked, 'each action that was asked for has ended')
  const names = new Set(trials.runs.map(({ name }) => name))
  t.equal(names.size, trials.asked, 'each has run')
  const { failures, counts } = trials.client
  const pauses = [...trials.pausesMs].sort((a, b) => a - b).map(Math.round)
  t.comment(JSON.stringify({ asked: trials.asked, runs: trials.runs.length, failures, counts, pauses }))
})
