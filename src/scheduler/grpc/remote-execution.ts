import { setTimeout as sleep } from 'node:timers/promises'
import { isStatus, orAbsent, StatusError } from '../../base/status-error.js'
import { codec, type Output } from '../../proto/codec.js'
import { errorOf } from '../../proto/error-details.js'
import type { ReadPrintedResponse, StatePart } from '../../proto/generated/remexec.scheduler.v1.js'
import { type MethodDefinition, serviceDefinition } from '../../proto/service-definition.js'
import { cancellation, internalCall, whenAborted } from '../../rpc/call.js'
import type { Channel } from '../../store/kinds/grpc/channels.js'
import { grpcFailure } from '../../store/kinds/grpc/failure.js'
import type { Requests } from '../../store/remote/requests.js'
import type { SchedulingStream } from '../fronts/session.js'
import type { ListedOperation, PrintedByOperation, WorkerUpstream } from '../scheduler.js'
import { type Operation, stateOf } from './operation-state.js'
import type { PrintedAsked } from './remote-queue.js'

export interface RemoteExecutionOptions {
  /** The server's name in messages. */
  readonly backend: string
  readonly channels: readonly Channel[]
  readonly requests: Requests
  /** Sent with every call. */
  readonly headers: ReadonlyMap<string, string>
  readonly failureOf: (thrown: unknown) => StatusError
}

/** The first message of a stream, and the rest of it. */
export interface OperationStream {
  readonly first: Operation
  readonly rest: AsyncIterable<Operation>
  /** Closes the stream when the reader stops early. */
  end(): void
}

export type Headers = ReadonlyMap<string, string | Buffer>

/** A stream that is lost more often than this without a new message in between fails. */
const MAX_LOSSES = 5
const AFTER_LOSS_MS = 500
/** Longer than other calls: the server may check a large input tree before it accepts an action. */
const FIRST_MESSAGE_MS = 120_000

/** Client of the Execution and Operations services of another server. */
export class RemoteExecution {
  readonly backend: string
  readonly #options: RemoteExecutionOptions
  #next = 0

  constructor(options: RemoteExecutionOptions) {
    this.#options = options
    this.backend = options.backend
  }

  /** The status of what a call threw. */
  failureOf(thrown: unknown): StatusError {
    return this.#options.failureOf(thrown)
  }

  /** Starts an action. `signal` closes the stream, also when nobody reads it. */
  execute(request: object, headers: Headers, signal: AbortSignal): Promise<OperationStream> {
    return this.#stream(METHODS.execute, request, headers, signal)
  }

  /** Yields every message about an operation until it is done. Opens a lost stream again with WaitExecution. */
  async *follow(name: string, begun: OperationStream | undefined, signal: AbortSignal): AsyncGenerator<Operation> {
    let stream = begun
    whenAborted(signal, () => stream?.end())
    for (let losses = 0; !signal.aborted; losses++) {
      try {
        stream ??= await this.#stream(METHODS.waitExecution, { name }, NONE, signal)
        yield stream.first
        if (stream.first.done) return
        for await (const operation of stream.rest) {
          yield operation
          if (operation.done) return
          losses = 0
        }
      } catch (thrown) {
        if (signal.aborted) return
        const error = this.#options.failureOf(thrown)
        if (losses >= MAX_LOSSES || !isStatus(error, 'UNAVAILABLE')) throw error
      }
      stream = undefined
      await sleep(AFTER_LOSS_MS, undefined, { signal }).catch(() => {})
    }
  }

  /** Undefined if the server does not know the operation. */
  async get(name: string): Promise<Operation | undefined> {
    return orAbsent(this.#unary<Operation>(METHODS.getOperation, { name }))
  }

  async cancel(name: string): Promise<boolean> {
    return (await orAbsent(this.#unary(METHODS.cancelOperation, { name }))) !== undefined
  }

  async delete(name: string): Promise<boolean> {
    return (await orAbsent(this.#unary(METHODS.deleteOperation, { name }))) !== undefined
  }

  /** The operations of an instance there after the cursor, under the names that `nameOf` gives them here. */
  async *listed(
    instanceName: string,
    after: string,
    nameOf: (operation: Operation) => string,
  ): AsyncIterable<ListedOperation> {
    let [token, skip] = positionOf(after)
    do {
      const asked = instanceName === '' ? 'operations' : `${instanceName}/operations`
      const { operations, nextPageToken } = await this.#list(asked, token)
      for (const [index, operation] of operations.entries()) {
        if (index < skip) continue
        const state = stateOf(operation, { name: nameOf(operation), instanceName })
        yield { state, cursor: `${index + 1}:${token}` }
      }
      token = nextPageToken
      skip = 0
    } while (token !== '')
  }

  #list(name: string, pageToken: string): Promise<Output<'google.longrunning.ListOperationsResponse'>> {
    return this.#unary(METHODS.listOperations, { name, pageToken, pageSize: PAGE })
  }

  /** Queue and workers of the server. UNIMPLEMENTED if it is another program, or an older release. */
  async state(signal: AbortSignal): Promise<readonly StatePart[]> {
    const stream = await this.#channel().serverStream(
      {},
      { method: METHODS.getState, headers: this.#options.headers, signal },
    )
    const parts: StatePart[] = []
    for await (const part of stream as AsyncIterable<StatePart>) {
      parts.push(part)
      if (parts.length === MAX_PARTS) throw new StatusError('RESOURCE_EXHAUSTED', `${this.backend}: tells too much`)
    }
    return parts
  }

  /** What an attempt there prints: names are those of that server. */
  async printed(asked: PrintedAsked, signal: AbortSignal): Promise<PrintedByOperation | undefined> {
    const { headers } = this.#options
    const call = { method: METHODS.readPrinted, headers, signal }
    const { attemptId, isTold, ...told } = await this.#channel().unary<ReadPrintedResponse>(asked, call, false)
    if (attemptId === '') return undefined
    const stdout = { bytes: told.stdout, sizeBytes: told.stdoutSize }
    const stderr = { bytes: told.stderr, sizeBytes: told.stderrSize }
    return { attemptId, printed: isTold ? { stdout, stderr } : undefined }
  }

  /** The stream by which operations are handed in (`scheduling.proto`). */
  join(signal: AbortSignal): Promise<SchedulingStream> {
    return this.#channel().duplex({ method: METHODS.join, headers: this.#options.headers, signal })
  }

  /** The stream of a worker whose scheduler is there. */
  relayWorker(headers: Headers, signal: AbortSignal): Promise<WorkerUpstream> {
    return this.#channel().duplex({ method: METHODS.connectWorker, headers: this.#with(headers), signal })
  }

  async ping(signal: AbortSignal): Promise<void> {
    await this.#channel().unary(
      { instanceName: '' },
      { method: METHODS.getCapabilities, headers: this.#options.headers, signal },
      false,
    )
  }

  close(): void {
    for (const channel of this.#options.channels) channel.close()
  }

  #unary<Response>(method: MethodDefinition, request: object): Promise<Response> {
    return this.#options.requests.run(internalCall(), (signal) =>
      this.#channel().unary<Response>(request, { method, headers: this.#options.headers, signal }, false),
    )
  }

  async #stream(
    method: MethodDefinition,
    request: object,
    headers: Headers,
    signal: AbortSignal,
  ): Promise<OperationStream> {
    const begin = async (attempt: AbortSignal): Promise<OperationStream> => {
      const controller = new AbortController()
      const end = (): void => controller.abort()
      whenAborted(signal, end)
      whenAborted(attempt, end)
      const stream = await this.#channel().serverStream(request, {
        method,
        headers: this.#with(headers),
        signal: controller.signal,
      })
      stream.once('close', () => signal.removeEventListener('abort', end))
      const messages = (stream as AsyncIterable<Operation>)[Symbol.asyncIterator]()
      const first = await messages.next()
      attempt.removeEventListener('abort', end)
      if (first.done === true) throw new StatusError('UNAVAILABLE', `${this.backend}: ended without an operation`)
      return { first: first.value, rest: { [Symbol.asyncIterator]: () => messages }, end }
    }
    if (signal.aborted) throw cancellation(signal)
    return this.#options.requests.run({ signal }, begin, { timeoutMs: FIRST_MESSAGE_MS })
  }

  #with(headers: Headers): Headers {
    return headers.size === 0 ? this.#options.headers : new Map([...this.#options.headers, ...headers])
  }

  #channel(): Channel {
    const { channels } = this.#options
    return channels[this.#next++ % channels.length] as Channel
  }
}

/** Keeps the details of the status: they list missing blobs or say when to retry. */
export const executionFailure = (backend: string, thrown: unknown): StatusError => {
  if (thrown instanceof StatusError) return thrown
  const error = grpcFailure(backend, thrown)
  const [trailer] = (thrown as { metadata?: { get(name: string): unknown[] } }).metadata?.get(DETAILS) ?? []
  if (!Buffer.isBuffer(trailer)) return error
  const { details } = errorOf(statusCodec.decode(trailer))
  return new StatusError(error.code, error.message, { details, cause: thrown })
}

const DETAILS = 'grpc-status-details-bin'
const PAGE = 100
/** Of at most 4 MiB each. */
const MAX_PARTS = 64
/** A page token of the other server, and how many operations of that page were already listed. */
const positionOf = (cursor: string): [token: string, skip: number] => {
  const at = cursor.indexOf(':')
  return at < 0 ? ['', 0] : [cursor.slice(at + 1), Number(cursor.slice(0, at))]
}

const NONE: Headers = new Map()
const statusCodec = codec('google.rpc.Status')

const methodOf = (service: string, name: string): MethodDefinition => {
  const found = serviceDefinition(service).methods.find((method) => method.name === name)
  if (found === undefined) throw new Error(`protos/ has no ${service}.${name}`)
  return found
}

const REAPI = 'build.bazel.remote.execution.v2'
const OPERATIONS = 'google.longrunning.Operations'

const METHODS = {
  getState: methodOf('remexec.scheduler.v1.SchedulerState', 'GetState'),
  readPrinted: methodOf('remexec.scheduler.v1.SchedulerState', 'ReadPrinted'),
  connectWorker: methodOf('remexec.worker.v1.WorkerApi', 'Connect'),
  join: methodOf('remexec.scheduler.v1.Scheduling', 'Join'),
  execute: methodOf(`${REAPI}.Execution`, 'Execute'),
  waitExecution: methodOf(`${REAPI}.Execution`, 'WaitExecution'),
  getCapabilities: methodOf(`${REAPI}.Capabilities`, 'GetCapabilities'),
  getOperation: methodOf(OPERATIONS, 'GetOperation'),
  listOperations: methodOf(OPERATIONS, 'ListOperations'),
  cancelOperation: methodOf(OPERATIONS, 'CancelOperation'),
  deleteOperation: methodOf(OPERATIONS, 'DeleteOperation'),
}
