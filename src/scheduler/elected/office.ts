import { Duplex, Transform } from 'node:stream'
import { whenAborted } from '../../base/cancellation.js'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import { guardedTimeout } from '../../base/timers.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Log } from '../../log/log.js'
import { type Codec, codec } from '../../proto/codec.js'
import type { FrontMessage } from '../../proto/generated/remexec.scheduler.v1.js'
import { inBackground } from '../../work/in-background.js'
import { checkHello, serveFront } from '../fronts/join.js'
import type { SchedulingStream } from '../fronts/session.js'
import type { Peer, Scheduler } from '../scheduler.js'
import type { SchedulerHost } from '../simple/host.js'
import type { Term } from './engine.js'

export interface OfficeOptions {
  readonly term: Term
  readonly host: SchedulerHost
  /** The servers that were there at the election: each tells what its clients wait for. */
  readonly memberIds: readonly string[]
  /** How long they may take. */
  readonly rebuildMs: number
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
  /** A server has heard of a higher term. */
  readonly onTermSeen: (epoch: number) => void
  /** Whether the key of a term is right: a server that only forwards must not end an office. */
  readonly isKeyOf: (epoch: number, termKey: string) => boolean
}

/** Workers of an earlier leader have come by then. Until then a client is not told that its operation is not known. */
const WORKERS_COME_MS = 10_000
/** How long a server may take to say which term it has seen. */
const ASK_MS = 1_000

/**
 * What a server has while it leads: the queue, and the streams of all servers, its own among them. Nothing is started before every
 * server that was there has told what it holds.
 */
export class Office {
  readonly host: SchedulerHost
  readonly #options: OfficeOptions
  readonly #startedMs: number
  readonly #awaited: Set<string>
  readonly #closing = new AbortController()
  readonly #fronts = new Set<{ ask(): void; onSeen: (epoch: number) => void }>()
  readonly #timer: NodeJS.Timeout
  #rebuiltMs: number | undefined

  constructor(options: OfficeOptions) {
    const { host, memberIds, rebuildMs, clock } = options
    this.host = host
    this.#options = options
    this.#startedMs = clock.now()
    this.#awaited = new Set(memberIds)
    this.#timer = guardedTimeout(() => this.#rebuilt(), rebuildMs)
  }

  get epoch(): number {
    return this.#options.term.epoch
  }

  /** How long it took until all had told what they hold; undefined before. */
  get rebuildMs(): number | undefined {
    return this.#rebuiltMs === undefined ? undefined : this.#rebuiltMs - this.#startedMs
  }

  get frontCount(): number {
    return this.#fronts.size
  }

  async join(peer: Peer): Promise<void> {
    const { term, ledger, clock, onTermSeen, isKeyOf, log } = this.#options
    const { hello, checkInstance, fail } = peer
    this.#checkOpen()
    const front = { ask: (): void => {}, onSeen: onTermSeen }
    const schedulerOf = (instanceName: string): Scheduler => {
      checkInstance(instanceName)
      return this.host
    }
    const ended = (): void => fail(leadsNoMore())
    whenAborted(this.#closing.signal, ended)
    this.#fronts.add(front)
    log.info('a server joined the queue', { server: hello.serverId, term: term.epoch })
    try {
      await serveFront(peer, {
        ...{ schedulerOf, ledger, clock, signal: peer.signal, fail },
        term: { epoch: term.epoch, leaderId: term.leader.id },
        mayCome: () => clock.now() - this.#startedMs < WORKERS_COME_MS,
        onHoldingEnded: () => this.#told(hello.serverId),
        onTermSeen: ({ highestEpoch, termKey }) => {
          front.onSeen(isKeyOf(highestEpoch, termKey) ? highestEpoch : 0)
        },
        onAskable: (ask) => {
          front.ask = ask
        },
      })
    } finally {
      this.#closing.signal.removeEventListener('abort', ended)
      this.#fronts.delete(front)
    }
  }

  /** The stream of this server itself. Its messages are encoded like those of others, so that both ways are one. */
  own(): SchedulingStream {
    this.#checkOpen()
    const [requests, answers] = [recoded(fromFront), recoded(toFront)]
    const stream = Duplex.from({ writable: requests, readable: answers })
    const gone = new AbortController()
    stream.once('close', () => gone.abort())
    const messages = (requests as AsyncIterable<FrontMessage>)[Symbol.asyncIterator]()
    const serve = async (): Promise<void> => {
      const first = await messages.next()
      if (first.done === true) return
      const fail = (error: StatusError): void => void stream.destroy(error)
      const peer = { messages, responses: answers, signal: gone.signal, fail, checkInstance: () => {} }
      await this.join({ ...peer, hello: checkHello(first.value) })
    }
    const over = serve().then(
      () => stream.destroy(),
      (error: unknown) => stream.destroy(StatusError.from(error)),
    )
    inBackground(over, this.#options.log, 'the queue of this server')
    return stream
  }

  /** The highest term that a server has heard of. Rejects if one does not answer in time. */
  async askFronts(): Promise<number> {
    const answers = [...this.#fronts].map((front) => {
      return new Promise<number>((resolve, reject) => {
        const late = (): void => reject(new StatusError('DEADLINE_EXCEEDED', `no answer within ${ASK_MS} ms`))
        const timer = guardedTimeout(late, ASK_MS)
        front.onSeen = (epoch) => {
          clearTimeout(timer)
          front.onSeen = this.#options.onTermSeen
          resolve(epoch)
        }
        front.ask()
      })
    })
    return Math.max(0, ...(await Promise.all(answers)))
  }

  /** Leads no more: every server and worker goes to the next leader, with what it has. */
  close(): void {
    clearTimeout(this.#timer)
    this.host.close()
    this.#closing.abort()
  }

  #told(serverId: string): void {
    this.#awaited.delete(serverId)
    if (this.#awaited.size === 0) this.#rebuilt()
  }

  #rebuilt(): void {
    if (this.#rebuiltMs !== undefined || this.#closing.signal.aborted) return
    clearTimeout(this.#timer)
    const { clock, log, term } = this.#options
    this.#rebuiltMs = clock.now()
    const silent = this.#awaited.size
    log.info('the queue is open', { term: term.epoch, rebuildMs: this.rebuildMs, silentServers: silent })
    this.host.release()
  }

  #checkOpen(): void {
    if (this.#closing.signal.aborted) throw leadsNoMore()
  }
}

const leadsNoMore = (): StatusError => new StatusError('UNAVAILABLE', 'this server does not lead the queue any more')

const fromFront = codec('remexec.scheduler.v1.FrontMessage')
const toFront = codec('remexec.scheduler.v1.SchedulingMessage')

/** What the other side reads of a message: with all fields. */
const recoded = <In extends object, Out>(message: Codec<In, Out>): Transform =>
  new Transform({
    objectMode: true,
    transform: (sent: In, _, done) => done(null, message.decode(message.encode(sent))),
  })
