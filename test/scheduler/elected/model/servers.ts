/** The servers of one queue in a simulated world: all of their code is the real one, except for the transport. */
import { Duplex, Readable, Writable } from 'node:stream'
import type { Clock } from '../../../../src/base/clock.js'
import { StatusError } from '../../../../src/base/status-error.js'
import { guardedInterval } from '../../../../src/base/timers.js'
import { Ledger } from '../../../../src/ledger/ledger.js'
import { silentLog } from '../../../../src/log/log.js'
import { type Codec, codec } from '../../../../src/proto/codec.js'
import type { ExecuteResponse } from '../../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { FrontMessage } from '../../../../src/proto/generated/remexec.scheduler.v1.js'
import { ElectedScheduler } from '../../../../src/scheduler/elected/elected-scheduler.js'
import { ObjectEngine } from '../../../../src/scheduler/elected/object-engine.js'
import { Spread } from '../../../../src/scheduler/elected/spread.js'
import { checkHello } from '../../../../src/scheduler/fronts/join.js'
import type { SchedulingStream } from '../../../../src/scheduler/fronts/session.js'
import type { RemoteExecution } from '../../../../src/scheduler/grpc/remote-execution.js'
import type { ActionResults } from '../../../../src/scheduler/scheduler.js'
import { SchedulerHost } from '../../../../src/scheduler/simple/host.js'
import type { SimpleSettings } from '../../../../src/scheduler/simple/settings.js'
import type { OpenObject, VersionedBucket } from '../../../../src/store/objects/bucket.js'
import { Link, Process, type World } from './world.js'

const LEASE_MS = 3_000
const REBUILD_MS = 1_500
const WAIT_MS = 3_600_000

/** A bucket that keeps its promises, but may be far away, or lose all that it has. */
export class MemoryBucket {
  readonly process: Process
  readonly #objects = new Map<string, { readonly version: string; readonly bytes: Buffer }>()
  #writes = 0

  constructor(world: World) {
    this.process = new Process('engine', world)
  }

  forget(): void {
    this.#objects.clear()
  }

  seenFrom(client: Process): VersionedBucket {
    const read = (key: string): OpenObject | undefined => {
      const found = this.#objects.get(key)
      if (found === undefined) return undefined
      const { version, bytes } = found
      return { version, sizeBytes: bytes.length, writtenAtMs: 0, body: Readable.from([bytes]), end: bytes.length }
    }
    const writeIf = (key: string, bytes: Buffer, version: string | undefined): string | undefined => {
      if (this.#objects.get(key)?.version !== version) return undefined
      const next = String(++this.#writes)
      this.#objects.set(key, { version: next, bytes })
      return next
    }
    return {
      name: 'the bucket',
      read: (key: string, _: unknown, signal: AbortSignal) => this.#ask(client, signal, () => read(key)),
      writeIf: (key: string, bytes: Buffer, version: string | undefined, signal: AbortSignal) =>
        this.#ask(client, signal, () => writeIf(key, bytes, version)),
      remove: (key: string, signal: AbortSignal) => this.#ask(client, signal, () => void this.#objects.delete(key)),
      failureOf: StatusError.from,
      close: () => {},
    } as unknown as VersionedBucket
  }

  #ask<T>(client: Process, signal: AbortSignal, work: () => T): Promise<T> {
    const { world } = client
    const go = (from: Process, to: Process, then: () => void): void => {
      world.after(world.between(1, 40), to, () => {
        if (!world.isCut(from, to)) then()
      })
    }
    return new Promise((resolve, reject) => {
      const lost = (): void => reject(new StatusError('UNAVAILABLE', 'the bucket does not answer'))
      if (signal.aborted) lost()
      signal.addEventListener('abort', lost)
      go(client, this.process, () => {
        const answer = work()
        go(this.process, client, () => {
          signal.removeEventListener('abort', lost)
          resolve(answer)
        })
      })
    })
  }
}

/** What all servers of a queue share. */
export interface Shared {
  readonly world: World
  readonly bucket: MemoryBucket
  readonly settings: SimpleSettings
  /** The action cache. */
  readonly results: ActionResults
  readonly servers: SimulatedServer[]
  /** A front was told that this attempt runs for an operation; '' for none. */
  readonly onNews: (front: SimulatedServer, id: string, attemptId: string) => void
  /** A front has got the outcome of an operation from a leader of this term. */
  readonly onEnd: (front: SimulatedServer, id: string, epoch: number) => void
}

export class SimulatedServer {
  readonly process: Process
  readonly scheduler: ElectedScheduler
  readonly #shared: Shared
  /** The address of the leader, while another one leads. */
  followed: string | undefined
  /** That it has heard of. */
  highestEpoch = 0
  /** Open sessions of other servers with this one, by their process. */
  readonly sessions = new Map<Process, Link>()
  /** Sessions that it has opened. */
  joins = 0
  #ids = 0

  constructor(
    shared: Shared,
    name: string,
    /** Of all servers, those at the same address too. */
    readonly serial: number,
  ) {
    this.#shared = shared
    const { world, bucket, settings, results } = shared
    this.process = new Process(name, world)
    const clock: Clock = {
      now: () => world.nowMs,
      every: (periodMs, tick) => {
        const timer = guardedInterval(tick, periodMs)
        return () => clearInterval(timer)
      },
    }
    const newId = () => `${name}-${serial}-${++this.#ids}`
    const common = { name: 'MAIN', results, clock, log: silentLog, newId }
    this.scheduler = this.process.run(() => {
      const engine = new ObjectEngine({
        ...{ bucket: bucket.seenFrom(this.process), keyPrefix: '', schedulerName: 'MAIN' },
        nowMs: () => world.nowMs,
      })
      const scheduler = new ElectedScheduler({
        ...common,
        ...{ engine, candidate: { id: newId(), address: name, settings: {} }, leaseMs: LEASE_MS },
        ...{ whenEngineAway: 'continue', waitMs: WAIT_MS, rebuildMs: REBUILD_MS },
        keepAliveIntervalMs: settings.workerTimeoutMs / 3,
        checkPlatform: () => {},
        ledger: new Ledger(),
        spread: new Spread(),
        nowMs: () => world.nowMs,
        newHost: (office) => new SchedulerHost({ ...common, settings, office }),
        remoteAt: (address) => this.#remoteAt(address),
      })
      scheduler.start()
      return scheduler
    })
    shared.servers.push(this)
  }

  get isUp(): boolean {
    return !this.process.isDead
  }

  kill(): void {
    this.process.kill()
    const { servers } = this.#shared
    servers.splice(servers.indexOf(this), 1)
  }

  /** As at SIGTERM. */
  stop(then: () => void): void {
    this.process.run(() => {
      this.scheduler.drain()
      void this.scheduler.idle(5_000).then(() => {
        this.scheduler.close()
        this.#shared.world.after(100, this.process, () => {
          this.kill()
          then()
        })
      })
    })
  }

  #remoteAt(address: string): RemoteExecution {
    this.followed = address
    return {
      backend: address,
      failureOf: StatusError.from,
      join: async (signal: AbortSignal) => this.#join(address, signal),
      relayWorker: () => new Promise(() => {}),
      close: () => {
        this.followed = undefined
      },
    } as unknown as RemoteExecution
  }

  #join(address: string, signal: AbortSignal): SchedulingStream {
    const leader = this.#shared.servers.find(({ process }) => process.name === address)
    if (leader === undefined) throw new StatusError('UNAVAILABLE', `nobody listens at ${address}`)
    this.joins += 1
    let epoch = 0
    const requests = new Readable({ objectMode: true, read: () => {} })
    const gone = new AbortController()
    const stream = new Duplex({
      objectMode: true,
      read: () => {},
      write: (message, _, done) => {
        const sent = recoded(fromFront, message)
        link.send(0, () => requests.push(sent))
        done()
      },
      destroy: (error, done) => {
        link.close(0, new StatusError('UNAVAILABLE', 'the front has left'))
        done(error)
      },
    })
    signal.addEventListener('abort', () => stream.destroy())
    const link: Link = new Link(
      this.#shared.world,
      { process: this.process, broken: (error) => void stream.destroy(error) },
      {
        process: leader.process,
        broken: (error) => {
          gone.abort(error)
          requests.destroy(error)
        },
      },
    )
    const responses = new Writable({
      objectMode: true,
      write: (message, _, done) => {
        const sent = recoded(toFront, message)
        link.send(1, () => {
          if (stream.destroyed) return
          stream.push(sent)
          if (sent.welcome !== null) epoch = sent.welcome.epoch
          this.highestEpoch = Math.max(this.highestEpoch, epoch)
          if (sent.news !== null) this.#shared.onNews(this, sent.news.id, sent.news.past?.attemptId ?? '')
          if (sent.end !== null) this.#shared.onEnd(this, sent.end.id, epoch)
        })
        done()
      },
    })
    leader.process.run(() => leader.#serve(requests, responses, { link, gone: gone.signal, front: this.process }))
    return stream as unknown as SchedulingStream
  }

  #serve(
    requests: Readable,
    responses: Writable,
    { link, gone, front }: { link: Link; gone: AbortSignal; front: Process },
  ): void {
    requests.on('error', () => {})
    const serve = async (): Promise<void> => {
      const messages = (requests as AsyncIterable<FrontMessage>)[Symbol.asyncIterator]()
      const first = await messages.next()
      if (first.done === true) return
      const hello = checkHello(first.value)
      const fail = (error: StatusError): void => void requests.destroy(error)
      this.sessions.set(front, link)
      const peer = { messages, responses, hello, signal: gone, fail, checkInstance: () => {} }
      await this.scheduler.peers.join(peer)
    }
    serve().then(
      () => link.close(1, new StatusError('UNAVAILABLE', 'the stream ended')),
      (error: unknown) => link.close(1, StatusError.from(error)),
    )
  }
}

const fromFront = codec('remexec.scheduler.v1.FrontMessage')
const toFront = codec('remexec.scheduler.v1.SchedulingMessage')
const recoded = <In extends object, Out>(message: Codec<In, Out>, sent: In): Out => message.decode(message.encode(sent))

const response = codec('build.bazel.remote.execution.v2.ExecuteResponse')
export const responseOf = (exitCode: number, message: string): ExecuteResponse =>
  response.decode(response.encode({ result: { exitCode }, message }))
