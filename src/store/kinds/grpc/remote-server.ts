import type { ClientReadableStream } from '@grpc/grpc-js'
import { isStatus, type StatusError } from '../../../base/status-error.js'
import type { Output } from '../../../proto/codec.js'
import { type MethodDefinition, serviceDefinition } from '../../../proto/service-definition.js'
import type { Chunking } from '../../../reapi/chunking.js'
import { compressors } from '../../../reapi/compressor.js'
import { chunkSizesOf, FastCdc, sizesFault } from '../../../reapi/fast-cdc.js'
import { RepMaxCdc, repMaxFault } from '../../../reapi/rep-max-cdc.js'
import { type Call, callWith, internalCall } from '../../../rpc/call.js'
import { unlessAborted } from '../../../work/deadline.js'
import type { Connection } from '../../remote/connection-health.js'
import type { Requests } from '../../remote/requests.js'
import type { Channel, Upstream } from './channels.js'

export interface RemoteServerOptions {
  /** The name of the server in errors and logs. */
  readonly backend: string
  readonly channels: readonly Channel[]
  readonly instanceName: string
  readonly requests: Requests
  /** Metadata sent with every call. */
  readonly headers: ReadonlyMap<string, string>
  /** Names of client metadata that is forwarded. */
  readonly forwarded: readonly string[]
  readonly failureOf: Connection['failureOf']
}

/** The capabilities of the other server. */
export interface Announced {
  /** Maximum total size of the blobs in a batch. */
  readonly maxBatchBytes: number
  readonly takesZstd: boolean
  /** How the server wants blobs cut that clients splice; undefined if it splices none. */
  readonly chunking: Chunking | undefined
}

/** The default message limit of gRPC servers. */
const MESSAGE_BYTES = 4 * 1024 * 1024
/** How long capabilities are cached: a restart may change the server. */
const ANNOUNCEMENT_MS = 5 * 60_000
const ANNOUNCEMENT_PATIENCE_MS = 10_000

const ZSTD = compressors.find(({ name }) => name === 'ZSTD')?.value

/** Another REAPI server, with several connections used in turn. */
export class RemoteServer {
  readonly #options: RemoteServerOptions
  #next = 0
  #announced: { readonly untilMs: number; readonly answer: Promise<Announced> } | undefined

  constructor(options: RemoteServerOptions) {
    this.#options = options
  }

  get instanceName(): string {
    return this.#options.instanceName
  }

  /** The same server and connections for another instance. */
  inInstance(instanceName: string): RemoteServer {
    return new RemoteServer({ ...this.#options, instanceName })
  }

  /** Converts the failure of an attempt into a status. */
  failureOf(thrown: unknown): StatusError {
    return this.#options.failureOf(thrown)
  }

  get requests(): Requests {
    return this.#options.requests
  }

  unary<Response>(method: MethodDefinition, request: object, call: Call, isRaw = false): Promise<Response> {
    return this.requests.run(call, (signal) =>
      this.attempt<Response>(method, request, callWith(call, { signal }), isRaw),
    )
  }

  /**
   * A single attempt, like the stream methods below. The caller retries, because it knows what was already transferred.
   */
  attempt<Response>(method: MethodDefinition, request: object, call: Call, isRaw = false): Promise<Response> {
    return this.#channel().unary<Response>(
      request,
      { method, headers: this.#headers(call), signal: call.signal },
      isRaw,
    )
  }

  serverStream(method: MethodDefinition, request: object, call: Call): Promise<ClientReadableStream<unknown>> {
    return this.#channel().serverStream(request, { method, headers: this.#headers(call), signal: call.signal })
  }

  clientStream<Response>(method: MethodDefinition, call: Call): Promise<Upstream<Response>> {
    return this.#channel().clientStream<Response>({ method, headers: this.#headers(call), signal: call.signal })
  }

  /** The capabilities of the server, cached. A server without the Capabilities service gets the minimum. */
  announced(call: Call): Promise<Announced> {
    const nowMs = performance.now()
    if (this.#announced === undefined || this.#announced.untilMs < nowMs) {
      const answer = this.#ask(call)
      const asked = { untilMs: nowMs + ANNOUNCEMENT_MS, answer }
      this.#announced = asked
      answer.catch(() => {
        if (this.#announced === asked) this.#announced = undefined
      })
    }
    const { answer } = this.#announced
    return unlessAborted(answer, call.signal)
  }

  /** Resolves when the server answers on this connection. */
  async ping(channel: Channel, signal: AbortSignal): Promise<void> {
    const request = { instanceName: this.instanceName }
    const outgoing = { method: METHODS.getCapabilities, headers: this.#options.headers, signal }
    await channel.unary(request, outgoing, false)
  }

  async #ask(call: Call): Promise<Announced> {
    try {
      const request = { instanceName: this.instanceName }
      // Concurrent callers share the request, so the call of the first one must not cancel it.
      const answer = await this.requests.run(
        internalCall(),
        (signal) =>
          this.attempt<Output<ServerCapabilities>>(METHODS.getCapabilities, request, callWith(call, { signal })),
        { timeoutMs: ANNOUNCEMENT_PATIENCE_MS },
      )
      const cache = answer.cacheCapabilities
      return {
        maxBatchBytes: cache?.maxBatchTotalSizeBytes || MESSAGE_BYTES - ROOM_BYTES,
        takesZstd: cache?.supportedCompressors.includes(ZSTD ?? -1) ?? false,
        chunking: cache?.spliceBlobSupport ? chunkingOf(cache) : undefined,
      }
    } catch (error) {
      if (!isStatus(error, 'UNIMPLEMENTED')) throw error
      return { maxBatchBytes: MESSAGE_BYTES - ROOM_BYTES, takesZstd: false, chunking: undefined }
    }
  }

  /** The next ready connection in turn; if none is ready, the next one. */
  #channel(): Channel {
    const { channels } = this.#options
    const turn = this.#next++
    const inTurn = channels.map((_, at) => channels[(turn + at) % channels.length] as Channel)
    return inTurn.find(({ isReady }) => isReady) ?? (inTurn[0] as Channel)
  }

  /** The configured headers, the forwarded ones, and the trace context if the call is traced. */
  #headers({ metadata, span }: Call): ReadonlyMap<string, string | Buffer> {
    const { headers, forwarded } = this.#options
    const passed = forwarded.flatMap((name): [string, string | Buffer][] => {
      const value = metadata?.get(name.toLowerCase())
      return value === undefined ? [] : [[name.toLowerCase(), value]]
    })
    const trace = Object.entries(span?.context ?? {}).filter(([, value]) => value !== '')
    return passed.length + trace.length === 0 ? headers : new Map([...headers, ...passed, ...trace])
  }
}

/** FastCDC if both are announced, as other clients choose. Parameters that cannot be are no reason to fail. */
const chunkingOf = ({ fastCdc2020Params, repMaxCdcParams }: CacheCapabilities): Chunking | undefined => {
  const sizes =
    fastCdc2020Params && fastCdc2020Params.seed === 0 ? chunkSizesOf(fastCdc2020Params.avgChunkSizeBytes) : null
  if (sizes !== null && sizesFault(sizes) === undefined) return new FastCdc(sizes)
  const { minChunkSizeBytes: minBytes = 0, horizonSizeBytes: horizonBytes = 0 } = repMaxCdcParams ?? {}
  return repMaxFault({ minBytes, horizonBytes }) === undefined ? new RepMaxCdc({ minBytes, horizonBytes }) : undefined
}

type CacheCapabilities = Output<'build.bazel.remote.execution.v2.CacheCapabilities'>
type ServerCapabilities = 'build.bazel.remote.execution.v2.ServerCapabilities'

/** Room in a message for what a batch has besides the blobs. */
const ROOM_BYTES = 64 * 1024

const methodOf = (service: string, name: string): MethodDefinition => {
  const found = serviceDefinition(service).methods.find((method) => method.name === name)
  if (found === undefined) throw new Error(`protos/ has no ${service}.${name}`)
  return found
}

const REAPI = 'build.bazel.remote.execution.v2'

export const METHODS = {
  getCapabilities: methodOf(`${REAPI}.Capabilities`, 'GetCapabilities'),
  findMissingBlobs: methodOf(`${REAPI}.ContentAddressableStorage`, 'FindMissingBlobs'),
  getTree: methodOf(`${REAPI}.ContentAddressableStorage`, 'GetTree'),
  batchReadBlobs: methodOf(`${REAPI}.ContentAddressableStorage`, 'BatchReadBlobs'),
  spliceBlob: methodOf(`${REAPI}.ContentAddressableStorage`, 'SpliceBlob'),
  batchUpdateBlobs: methodOf(`${REAPI}.ContentAddressableStorage`, 'BatchUpdateBlobs'),
  getActionResult: methodOf(`${REAPI}.ActionCache`, 'GetActionResult'),
  updateActionResult: methodOf(`${REAPI}.ActionCache`, 'UpdateActionResult'),
  read: methodOf('google.bytestream.ByteStream', 'Read'),
  write: methodOf('google.bytestream.ByteStream', 'Write'),
  queryWriteStatus: methodOf('google.bytestream.ByteStream', 'QueryWriteStatus'),
}
