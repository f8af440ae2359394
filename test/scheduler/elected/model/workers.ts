/** Workers and clients in a simulated world, as the protocols let them be. */
import { Code, StatusError } from '../../../../src/base/status-error.js'
import type { ExecuteResponse } from '../../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type {
  ExecutionRequest,
  OperationState,
  StartAttempt,
  WorkerLink,
  WorkerSession,
} from '../../../../src/scheduler/scheduler.js'
import { HeardTerm } from '../../../../src/worker/heard-term.js'
import { responseOf, type SimulatedServer } from './servers.js'
import { Link, Process, type World } from './world.js'

/** What an action comes to, wherever and whenever it runs. */
export interface Plan {
  readonly kind: 'succeeds' | 'exits with 3' | 'is not cached' | 'breaks its worker' | 'suits no worker'
  readonly takesMs: number
  readonly request: ExecutionRequest
}

interface Held {
  readonly start: StartAttempt
  outcome?: ExecuteResponse | StatusError
}

export interface WorkerParts {
  readonly world: World
  readonly servers: readonly SimulatedServer[]
  readonly planOf: (digest: string) => Plan
  /** A leader of this term has started an attempt at a worker that has heard of that one. */
  readonly onStart: (epoch: number, highestEpoch: number) => void
  /** A leader gives an attempt to a worker. */
  readonly onSent: (start: StartAttempt) => void
  /** A leader has got the outcome of an attempt. */
  readonly onReport: (attemptId: string) => void
  readonly onAcknowledge: (leader: SimulatedServer, start: StartAttempt, outcome: ExecuteResponse | StatusError) => void
}

const KEEP_ALIVE_MS = 3_000

export class SimulatedWorker {
  readonly process: Process
  readonly #parts: WorkerParts
  readonly #held = new Map<string, Held>()
  readonly #heard = new HeardTerm()
  #id = ''
  #key = ''
  #session: { readonly say: (event: (session: WorkerSession) => void) => void } | undefined

  constructor(
    parts: WorkerParts,
    readonly name: string,
  ) {
    this.#parts = parts
    this.process = new Process(name, parts.world)
    this.process.run(() => this.#connectSoon())
  }

  #connectSoon(): void {
    this.#session = undefined
    const { world } = this.#parts
    world.after(world.between(20, 800), this.process, () => this.#connect())
  }

  #connect(): void {
    const { world, servers } = this.#parts
    const door = world.pick(servers)
    // A server that follows passes all on.
    const leader = door?.followed === undefined ? door : servers.find(({ process }) => process.name === door.followed)
    if (door === undefined || leader === undefined) {
      this.#connectSoon()
      return
    }
    let session: WorkerSession | undefined
    let isOver = false
    const link: Link = new Link(
      world,
      {
        process: this.process,
        broken: () => {
          if (isOver) return
          isOver = true
          this.#connectSoon()
        },
      },
      { process: leader.process, broken: () => session?.disconnected() },
    )
    if (door !== leader) door.process.atDeath(() => link.close(1, new StatusError('UNAVAILABLE', 'the relay is gone')))
    const say = (event: (session: WorkerSession) => void): void =>
      link.send(0, () => {
        if (session !== undefined) event(session)
      })
    const brought = [...this.#held.values()].map(({ start }) => [start.attemptId, start] as const)
    const past = {
      ...{ workerId: this.#id, workerKey: this.#key, attemptIds: [...this.#held.keys()], brought: new Map(brought) },
      ...{ highestEpoch: this.#heard.epoch, termKey: this.#heard.termKey },
    }
    let epoch = 0
    const workerLink: WorkerLink = {
      welcome: (id, key) => {
        const { term } = leader.scheduler
        link.send(1, () => {
          epoch = term?.epoch ?? 0
          if (this.#heard.accept({ epoch, termKey: term?.termKey ?? '' }, world.nowMs)) this.#welcomed(id, key, say)
          else {
            link.close(0, new StatusError('CANCELLED', 'an earlier term'))
            isOver = true
            this.#connectSoon()
          }
        })
      },
      start: (start) => {
        this.#parts.onSent(start)
        link.send(1, () => this.#start(start, epoch))
      },
      kill: (attemptId) => link.send(1, () => this.#end(attemptId, new StatusError('ABORTED', 'it was killed'))),
      acknowledge: (attemptId) => {
        const held = this.#held.get(attemptId)
        if (held?.outcome !== undefined) this.#parts.onAcknowledge(leader, held.start, held.outcome)
        link.send(1, () => void this.#held.delete(attemptId))
      },
      readPrinted: () => {},
      drain: () => {},
      close: (error) => link.close(1, error),
    }
    link.send(0, () => {
      try {
        const offer = { name: this.name, properties: new Map(), maxInflightAttempts: 2 }
        session = leader.scheduler.connectWorker(offer, past, workerLink)
      } catch (error) {
        link.close(1, StatusError.from(error))
      }
    })
  }

  #welcomed(id: string, key: string, say: (event: (session: WorkerSession) => void) => void): void {
    this.#id = id
    this.#key = key
    const session = { say }
    this.#session = session
    for (const { start, outcome } of this.#held.values()) if (outcome !== undefined) this.#report(start, outcome)
    const keepAlive = (): void => {
      if (this.#session !== session) return
      say((server) => server.keepAlive())
      this.#parts.world.after(KEEP_ALIVE_MS, this.process, keepAlive)
    }
    keepAlive()
  }

  #start(start: StartAttempt, epoch: number): void {
    const { onStart, planOf, world } = this.#parts
    onStart(epoch, this.#heard.epoch)
    const { attemptId, request } = start
    if (this.#held.has(attemptId)) return
    this.#held.set(attemptId, { start })
    const { kind, takesMs } = planOf(request.actionDigest.key)
    const text = `${attemptId} at ${this.name} from ${world.nowMs}`
    const outcome =
      kind === 'breaks its worker'
        ? new StatusError('INTERNAL', text)
        : responseOf(kind === 'exits with 3' ? 3 : 0, text)
    world.after(takesMs, this.process, () => this.#end(attemptId, outcome))
  }

  #end(attemptId: string, outcome: ExecuteResponse | StatusError): void {
    const held = this.#held.get(attemptId)
    if (held === undefined || held.outcome !== undefined) return
    held.outcome = outcome
    this.#report(held.start, outcome)
  }

  #report({ attemptId }: StartAttempt, outcome: ExecuteResponse | StatusError): void {
    this.#session?.say((session) => {
      this.#parts.onReport(attemptId)
      if (outcome instanceof StatusError) session.workerError(attemptId, outcome)
      else session.report(attemptId, outcome)
    })
  }
}

/** One action of a client, until it has an outcome. */
export class SimulatedClient {
  /** Its server. */
  front: SimulatedServer | undefined
  name: string | undefined
  /** How often no server knew its operation. */
  forgotten = 0
  /** What came of it: a number of an exit, or a code; and the text of the attempt. */
  outcome: { readonly kind: string; readonly text: string } | undefined
  readonly #process: Process
  readonly #world: World
  readonly #servers: readonly SimulatedServer[]

  constructor(
    { world, servers }: WorkerParts,
    process: Process,
    readonly plan: Plan,
    name?: string,
  ) {
    this.#world = world
    this.#servers = servers
    this.#process = process
    this.name = name
    this.#ask()
  }

  #again(): void {
    this.front = undefined
    if (this.outcome === undefined) this.#world.after(this.#world.between(20, 500), this.#process, () => this.#ask())
  }

  #ask(): void {
    const front = this.#world.pick(this.#servers)
    if (front === undefined) {
      this.#again()
      return
    }
    this.front = front
    const gone = new AbortController()
    let isOver = false
    const over = (): void => {
      if (isOver) return
      isOver = true
      this.#again()
    }
    const link = new Link(
      this.#world,
      { process: this.#process, broken: over },
      { process: front.process, broken: () => gone.abort() },
    )
    const tell = (work: () => void): void => link.send(1, work)
    const follow = async (): Promise<void> => {
      const { scheduler } = front
      const name = this.name ?? (await scheduler.execute(this.plan.request))
      tell(() => {
        this.name = name
      })
      for await (const state of scheduler.watch(name, gone.signal)) tell(() => this.#saw(state))
    }
    const failed = (error: StatusError): void => {
      if (error.code === Code.NOT_FOUND) {
        this.name = undefined
        this.forgotten += 1
      } else if (error.code !== Code.UNAVAILABLE) this.outcome ??= { kind: String(error.code), text: error.message }
      over()
    }
    link.send(0, () => {
      follow().catch((error: unknown) => tell(() => failed(StatusError.from(error))))
    })
  }

  #saw({ outcome }: OperationState): void {
    if (outcome === undefined || this.outcome !== undefined) return
    this.outcome =
      'error' in outcome
        ? { kind: String(outcome.error.code), text: outcome.error.message }
        : { kind: `exit ${outcome.response.result?.exitCode}`, text: outcome.response.message }
  }
}
