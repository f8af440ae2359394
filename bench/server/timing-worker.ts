import { Client, type ClientDuplexStream, credentials } from '@grpc/grpc-js'
import { codec, type Input, type Output } from '../../src/proto/codec.js'
import { serviceDefinition } from '../../src/proto/service-definition.js'

const toScheduler = codec('remexec.worker.v1.WorkerMessage')
const fromScheduler = codec('remexec.worker.v1.SchedulerMessage')
type ToScheduler = Input<'remexec.worker.v1.WorkerMessage'>
type FromScheduler = Output<'remexec.worker.v1.SchedulerMessage'>

/** A worker in the process of the bench. It ends an action on request and reports when it got the next one. */
export class TimingWorker {
  readonly #client: Client
  readonly #stream: ClientDuplexStream<ToScheduler, FromScheduler>
  readonly #running: string[] = []
  #onStart: () => void = () => {}

  private constructor(address: string) {
    const [connect] = serviceDefinition('remexec.worker.v1.WorkerApi').methods
    if (connect === undefined) throw new Error('protos/ has no remexec.worker.v1.WorkerApi')
    this.#client = new Client(address, credentials.createInsecure())
    this.#stream = this.#client.makeBidiStreamRequest(
      connect.path,
      (message: ToScheduler) => toScheduler.encode(message),
      (bytes) => fromScheduler.decode(bytes),
    )
    this.#stream.on('error', () => {})
  }

  /** Resolves when the scheduler knows it. */
  static async connect(address: string, places: number): Promise<TimingWorker> {
    const worker = new TimingWorker(address)
    const stream = worker.#stream
    await new Promise<void>((resolve) => {
      stream.on('data', ({ welcome, start }: FromScheduler) => {
        if (welcome !== null) {
          setInterval(() => stream.write({ keepAlive: {} }), Math.max(20, welcome.keepAliveIntervalMs / 2)).unref()
          resolve()
        }
        if (start !== null) worker.#started(start.attemptId)
      })
      stream.write({ hello: { protocolVersion: 1, name: 'timing', maxInflightAttempts: places } })
    })
    return worker
  }

  get running(): number {
    return this.#running.length
  }

  /** Resolves at the next action it is given. */
  nextStart(): Promise<void> {
    return new Promise((resolve) => {
      this.#onStart = resolve
    })
  }

  /** Says of what it has run longest that it succeeded. */
  end(): void {
    const attemptId = this.#running.shift()
    if (attemptId === undefined) throw new Error('nothing runs')
    const executeResponse = { result: { exitCode: 0, executionMetadata: { worker: 'timing' } } }
    this.#stream.write({ result: { attemptId, executeResponse } })
  }

  close(): void {
    this.#stream.cancel()
    this.#client.close()
  }

  #started(attemptId: string): void {
    this.#running.push(attemptId)
    const onStart = this.#onStart
    this.#onStart = () => {}
    onStart()
  }
}
