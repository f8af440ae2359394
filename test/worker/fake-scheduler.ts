import type { Readable, Writable } from 'node:stream'
import { StatusError } from '../../src/base/status-error.js'
import type { SchedulerMessageInput, WorkerMessage } from '../../src/proto/generated/remexec.worker.v1.js'
import type { Service } from '../../src/rpc/rpc.js'
import { type Listener, listen } from '../../src/server/listener.js'
import { found } from '../until.js'

type Kind = NonNullable<WorkerMessage['message']>

/** The scheduler's side of the worker API on a real listener, controlled by a test. */
export class FakeScheduler {
  /** Set to answer the next Hellos with a failure. */
  refusal: StatusError | undefined
  connections = 0
  acknowledges = true
  readonly #heard: WorkerMessage[] = []
  #responses: Writable | undefined
  #drop: (error: StatusError) => void = () => {}
  #listener: Listener | undefined

  async listen(): Promise<void> {
    this.#listener = await listen({ address: '127.0.0.1:0', services: [this.#service] })
  }

  get address(): string {
    return this.#listener?.address ?? ''
  }

  say(message: SchedulerMessageInput): void {
    this.#responses?.write(message)
  }

  /** The next unread message of a kind; others stay queued. */
  async next<K extends Kind>(kind: K): Promise<NonNullable<WorkerMessage[K]>> {
    return found(
      () => {
        const index = this.#heard.findIndex((message) => message.message === kind)
        const [first] = index < 0 ? [] : this.#heard.splice(index, 1)
        return (first?.[kind] ?? undefined) as NonNullable<WorkerMessage[K]> | undefined
      },
      () => `"${kind}", only ${this.#heard.map((message) => message.message).join()}`,
    )
  }

  count(kind: Kind): number {
    return this.#heard.filter((message) => message.message === kind).length
  }

  /** Breaks the connection. */
  drop(): void {
    this.#drop(new StatusError('UNAVAILABLE', 'dropped by the test'))
  }

  async close(): Promise<void> {
    await this.#listener?.close(100)
  }

  readonly #service: Service = {
    name: 'remexec.worker.v1.WorkerApi',
    bidirectional: {
      Connect: (requests: Readable, responses: Writable) =>
        new Promise<void>((resolve, reject) => {
          this.connections++
          this.#responses = responses
          this.#drop = reject
          requests.on('data', (message: WorkerMessage) => {
            if (message.hello !== null && this.refusal !== undefined) reject(this.refusal)
            else if (message.hello !== null) this.say({ welcome: { workerId: 'id-1', keepAliveIntervalMs: 50 } })
            if (message.result !== null && this.acknowledges) {
              this.say({ resultAck: { attemptIds: [message.result.attemptId] } })
            }
            this.#heard.push(message)
          })
          requests.on('error', () => resolve())
          requests.on('end', () => resolve())
        }),
    },
  }
}
