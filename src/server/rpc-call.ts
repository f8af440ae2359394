import type { Metadata } from '@grpc/grpc-js'
import type { Log, LogFields } from '../base/log.js'
import type { RpcCall } from '../base/rpc.js'
import { isStatus } from '../base/status-error.js'
import { codec } from '../proto/codec.js'

const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')
const REQUEST_METADATA = 'build.bazel.remote.execution.v2.requestmetadata-bin'

/** What a call is made of. Whoever reads `signal` wants it: it costs more than the rest of a small call. */
export interface Origin {
  readonly peer: string
  readonly metadata: Metadata
  readonly signal: AbortSignal
  readonly log: Log
}

/** The Call of one RPC. Metadata with several values under a name shows the first. */
export class WireCall implements RpcCall {
  readonly instanceName: string
  readonly log: Log
  readonly peer: string
  readonly #origin: Origin

  constructor(origin: Origin, request?: unknown) {
    this.instanceName = instanceNameOf(request)
    this.log = origin.log
    this.peer = origin.peer
    this.#origin = origin
  }

  get signal(): AbortSignal {
    return this.#origin.signal
  }

  get metadata(): ReadonlyMap<string, string | Buffer> {
    return new Map(Object.entries(this.#origin.metadata.getMap()))
  }
}

const instanceNameOf = (request: unknown): string =>
  typeof request === 'object' &&
  request !== null &&
  'instanceName' in request &&
  typeof request.instanceName === 'string'
    ? request.instanceName
    : ''

/**
 * Who asks and for what, by the REAPI RequestMetadata header, for the line of the call in the log. The header is a
 * courtesy of clients: absent or undecodable it never fails a call.
 */
export const requestFields = (metadata: Metadata): LogFields => {
  const [header] = metadata.get(REQUEST_METADATA)
  if (!Buffer.isBuffer(header)) return {}
  try {
    const { toolDetails, toolInvocationId, actionId, targetId } = requestMetadataCodec.decode(header)
    const named = { tool: toolDetails?.toolName, invocation: toolInvocationId, action: actionId, target: targetId }
    return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined && value !== ''))
  } catch (error) {
    if (isStatus(error, 'INVALID_ARGUMENT')) return { requestMetadata: 'undecodable' }
    throw error
  }
}
