import { randomUUID } from 'node:crypto'
import type { ClientHttp2Session } from 'node:http2'
import { type ClientOptions, credentials } from '@grpc/grpc-js'
import { Compressor, DigestFunction } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { codec, type Output } from '../proto/codec.js'
import { Code, codeName } from '../proto/status-code.js'
import { Client, type Outcome } from '../wire/client.js'
import { diagnose } from '../wire/diagnose.js'
import { HttpCache, type HttpKind } from '../wire/http.js'
import { REQUEST_METADATA, requestMetadata } from '../wire/identity.js'
import * as methods from '../wire/methods.js'
import { Patience } from '../wire/patience.js'
import { oneLine, openSession, TargetError, type TargetSettings, targetOf } from '../wire/target.js'

/** What the server must offer, or the user must set, for a check to be meaningful. */
export type Need =
  | 'api:2.1'
  | 'api:2.2'
  | 'api:2.3'
  | 'below:2.1'
  | 'cas'
  | 'batch-read'
  | 'bytestream'
  | 'query-write-status'
  | 'action-cache'
  | 'action-cache-update'
  | 'execution'
  | 'operations'
  | 'compressor:zstd'
  | 'compressor:deflate'
  | 'compressor:brotli'
  | 'batch-compressor:zstd'
  | 'digest-function:SHA1'
  | 'digest-function:BLAKE3'
  | 'split'
  | 'splice'
  | 'second-instance'
  | 'read-only-instance'
  | 'cache-only-instance'
  | 'store-size'
  | 'tls'
  | 'fetch'
  | 'push'
  | 'logstream'
  | 'build-events'
  | 'health'
  | 'reflection'
  | 'http'
  | `http:${HttpKind}`

/** The target of the exam and the identity of its calls. */
export interface Candidate {
  /** As given by the user, `grpc://host:port`. */
  readonly address: string
  readonly client: Client
  /** Shared by all connections of a run. */
  readonly patience: Patience
  /** Methods that answered a call with OK in this run, as `Service.Method`: the server implements them. */
  readonly answered: ReadonlySet<string>
  /** Opens another connection, e.g. to read an upload of one client from another. */
  connect(channel?: ClientOptions): Client
  /** Opens a bare HTTP/2 connection, for details that a gRPC library hides. */
  openSession(): Promise<ClientHttp2Session>
  /** The headers of every call, for calls on a bare connection. */
  wireHeaders(actionId: string): Readonly<Record<string, string>>
  readonly instanceName: string
  readonly secondInstanceName: string | undefined
  readonly readOnlyInstanceName: string | undefined
  readonly cacheOnlyInstanceName: string | undefined
  /** What the CAS holds, which no call tells. */
  readonly storeBytes: number | undefined
  readonly capabilities: Output<'build.bazel.remote.execution.v2.ServerCapabilities'>
  /** Platform properties of every action. */
  readonly properties: readonly { readonly name: string; readonly value: string }[]
  /** The HTTP caches to examine, by kind. */
  readonly http: ReadonlyMap<HttpKind, HttpCache>
}

export interface CandidateSettings extends TargetSettings {
  readonly instanceName: string
  readonly secondInstanceName?: string | undefined
  readonly readOnlyInstanceName?: string | undefined
  readonly cacheOnlyInstanceName?: string | undefined
  readonly storeBytes?: number | undefined
  readonly properties: Candidate['properties']
  readonly headers: Readonly<Record<string, string>>
  /** Multiplies every deadline. Default 1. */
  readonly patience?: number | undefined
  /** Addresses of HTTP caches. */
  readonly http?: readonly { readonly kind: HttpKind; readonly address: string }[] | undefined
}

const httpOf = ({ http = [], headers, tls }: CandidateSettings): Map<HttpKind, HttpCache> =>
  new Map(http.map(({ kind, address }) => [kind, new HttpCache(kind, address, headers, tls)]))

const noCapabilities = codec('build.bazel.remote.execution.v2.ServerCapabilities').decode(new Uint8Array())

/** A server that is examined over HTTP alone: it announces nothing, and no call of it is made. */
export const openHttpCandidate = (settings: CandidateSettings): Candidate => {
  const http = httpOf(settings)
  const address = [...http.values()][0]?.address ?? ''
  const patience = new Patience(settings.patience)
  const identity = { toolName: 'remexec-conformance', invocationId: randomUUID() }
  const connect = (): Client =>
    new Client(new URL(address).host, credentials.createInsecure(), { headers: {}, identity, patience })
  return {
    ...settings,
    address,
    client: connect(),
    patience,
    answered: new Set(),
    connect,
    openSession: () => Promise.reject(new Error('there is no gRPC address')),
    wireHeaders: () => settings.headers,
    secondInstanceName: undefined,
    readOnlyInstanceName: undefined,
    cacheOnlyInstanceName: undefined,
    storeBytes: undefined,
    capabilities: noCapabilities,
    http,
  }
}

const PATIENCE_MS = 5_000

/** Connects and asks for the capabilities. Throws a TargetError if no REAPI server answers. */
export const openCandidate = async (settings: CandidateSettings): Promise<Candidate> => {
  const target = targetOf(settings)
  const patience = new Patience(settings.patience)
  await diagnose(target, patience)
  const channelCredentials = target.isSecure
    ? credentials.createSsl(target.ca, target.key, target.cert)
    : credentials.createInsecure()
  const named = target.serverName === undefined ? {} : { 'grpc.ssl_target_name_override': target.serverName }
  const identity = { toolName: 'remexec-conformance', invocationId: randomUUID() }
  const answered = new Set<string>()
  const connect = (channel: ClientOptions = {}): Client =>
    new Client(target.hostPort, channelCredentials, {
      headers: settings.headers,
      identity,
      patience,
      answered,
      channel: { ...named, ...channel },
    })
  const client = connect()
  const request = { instanceName: settings.instanceName }
  const outcome = await client.call(methods.getCapabilities, request, { deadlineMs: PATIENCE_MS })
  const [capabilities] = outcome.responses
  if (outcome.code !== 0 || capabilities === undefined) {
    client.close()
    throw new TargetError(`${settings.address}: GetCapabilities did not succeed: ${failureText(outcome)}`)
  }
  return {
    address: settings.address,
    client,
    patience,
    answered,
    connect,
    openSession: () => openSession(target),
    wireHeaders: (actionId) => ({
      ...settings.headers,
      [REQUEST_METADATA]: requestMetadata(identity, actionId).toString('base64'),
    }),
    instanceName: settings.instanceName,
    secondInstanceName: settings.secondInstanceName,
    readOnlyInstanceName: settings.readOnlyInstanceName,
    cacheOnlyInstanceName: settings.cacheOnlyInstanceName,
    storeBytes: settings.storeBytes,
    capabilities,
    properties: settings.properties,
    http: httpOf(settings),
  }
}

const failureText = ({ code, garbage, message, responses }: Outcome<unknown>): string => {
  if (garbage !== undefined) return `its answer does not decode: ${oneLine(garbage)}`
  if (code === 0 && responses.length === 0) return 'it ended without an answer'
  return `${codeName(code)} ${oneLine(message)}`
}

/** Whether the server still answers GetCapabilities, or any of its caches anything. */
export const isAlive = async ({ client, instanceName, http, capabilities }: Candidate): Promise<boolean> => {
  const [cache] = http.values()
  if (capabilities === noCapabilities && cache !== undefined) {
    const answer = await cache.send({ method: 'GET', path: '', deadlineMs: PATIENCE_MS }).catch(() => undefined)
    return answer !== undefined
  }
  const { code } = await client.call(methods.getCapabilities, { instanceName }, { deadlineMs: PATIENCE_MS })
  return code === Code.OK
}

/** Sends each optional service a harmless request; a service that answers UNIMPLEMENTED is not served. */
export const servedServices = async ({ client, instanceName }: Candidate): Promise<ReadonlySet<Need>> => {
  const probes: [Need, methods.Method<methods.Any, methods.Any>, object][] = [
    ['cas', methods.findMissingBlobs, { instanceName }],
    ['batch-read', methods.batchReadBlobs, { instanceName }],
    ['bytestream', methods.read, { resourceName: 'probe' }],
    ['bytestream', methods.write, { resourceName: 'probe', finishWrite: true }],
    ['query-write-status', methods.queryWriteStatus, { resourceName: 'probe' }],
    ['action-cache', methods.getActionResult, { instanceName }],
    ['action-cache', methods.updateActionResult, { instanceName }],
    ['execution', methods.waitExecution, { name: 'probe' }],
    ['operations', methods.getOperation, { name: 'probe' }],
    ['fetch', methods.fetchBlob, { instanceName }],
    ['push', methods.pushBlob, { instanceName }],
    ['logstream', methods.createLogStream, {}],
    ['build-events', methods.publishLifecycleEvent, {}],
    ['health', methods.healthCheck, {}],
    ['reflection', methods.serverReflectionInfo, { listServices: '*' }],
  ]
  const answers = await Promise.all(
    probes.map(async ([need, method, request]) => {
      const { code } = await client.call(method, request, { deadlineMs: PATIENCE_MS, maxResponses: 1 })
      return code === Code.UNIMPLEMENTED ? [] : [need]
    }),
  )
  return new Set(answers.flat())
}

/** A server that announces an earlier 2.x does not know later additions. */
export const knowsApi = ({ capabilities }: Pick<Candidate, 'capabilities'>, minor: number): boolean => {
  const { major = 0, minor: announced = 0 } = capabilities.highApiVersion ?? {}
  return major > 2 || (major === 2 && announced >= minor)
}

const tooOld = (candidate: Candidate, minor: number): string | undefined => {
  const { major = 0, minor: announced = 0 } = candidate.capabilities.highApiVersion ?? {}
  return knowsApi(candidate, minor) ? undefined : `the server announces ${major}.${announced}; 2.${minor} added this`
}

/** The earliest version that is served, deprecated or not; 2.0 if the server names none. */
export const lowestVersion = ({ capabilities }: Pick<Candidate, 'capabilities'>): ApiVersion => {
  const { major, minor } = capabilities.deprecatedApiVersion ?? capabilities.lowApiVersion ?? { major: 2, minor: 0 }
  return { major, minor }
}

export interface ApiVersion {
  readonly major: number
  readonly minor: number
}

export const isAtMost = (a: ApiVersion, b: ApiVersion): boolean =>
  a.major < b.major || (a.major === b.major && a.minor <= b.minor)

/** A server that does not serve earlier versions owes nothing to clients of those versions. */
const tooNew = (candidate: Candidate, minor: number): string | undefined => {
  const lowest = lowestVersion(candidate)
  if (!isAtMost({ major: 2, minor }, lowest)) return undefined
  return `the lowest version that the server announces is ${lowest.major}.${lowest.minor}; this is for clients below 2.${minor}`
}

const lacksCache = ({ http }: Candidate, kind: HttpKind): string | undefined =>
  http.has(kind) ? undefined : `needs --http ${kind === 'bazel' ? '' : `${kind}+`}http://...`

/** Why the candidate cannot meet a need, or undefined when it can. */
export const lacks = (candidate: Candidate, served: ReadonlySet<Need>): ((need: Need) => string | undefined) => {
  const { cacheCapabilities, executionCapabilities } = candidate.capabilities
  const compressors = cacheCapabilities?.supportedCompressors ?? []
  const functions = cacheCapabilities?.digestFunctions ?? []
  // A server must serve what it announces: a method that is missing is then a finding, not a reason to skip.
  const promised: Partial<Record<Need, boolean>> = {
    cas: cacheCapabilities !== null,
    bytestream: cacheCapabilities !== null,
    'action-cache': cacheCapabilities?.actionCacheUpdateCapabilities?.updateEnabled === true,
  }
  const claims: Partial<Record<Need, boolean>> = {
    execution: executionCapabilities?.execEnabled === true,
    'action-cache-update': cacheCapabilities?.actionCacheUpdateCapabilities?.updateEnabled === true,
    'compressor:zstd': compressors.includes(Compressor.ZSTD),
    'compressor:deflate': compressors.includes(Compressor.DEFLATE),
    'compressor:brotli': compressors.includes(Compressor.BROTLI),
    'batch-compressor:zstd': cacheCapabilities?.supportedBatchUpdateCompressors.includes(Compressor.ZSTD) === true,
    'digest-function:SHA1': functions.includes(DigestFunction.SHA1),
    'digest-function:BLAKE3': functions.includes(DigestFunction.BLAKE3),
    split: cacheCapabilities?.splitBlobSupport === true,
    splice: cacheCapabilities?.spliceBlobSupport === true,
  }
  const flags: Partial<Record<Need, [string | number | undefined, string]>> = {
    'second-instance': [candidate.secondInstanceName, '--second-instance-name'],
    'read-only-instance': [candidate.readOnlyInstanceName, '--read-only-instance'],
    'cache-only-instance': [candidate.cacheOnlyInstanceName, '--cache-only-instance'],
    'store-size': [candidate.storeBytes, '--store-size'],
  }
  return (need) => {
    const flag = flags[need]
    if (flag !== undefined) return flag[0] === undefined ? `needs ${flag[1]}` : undefined
    const [, wantedMinor] = /^api:2\.(\d+)$/.exec(need) ?? []
    if (wantedMinor !== undefined) return tooOld(candidate, Number(wantedMinor))
    if (need === 'below:2.1') return tooNew(candidate, 1)
    if (need === 'http') return candidate.http.size > 0 ? undefined : 'needs --http'
    if (need.startsWith('http:')) return lacksCache(candidate, need.slice(5) as HttpKind)
    if (need === 'tls') return candidate.address.startsWith('grpcs:') ? undefined : 'needs a grpcs:// address'
    const claim = claims[need]
    if (claim !== undefined) return claim ? undefined : `the server does not announce ${need}`
    return promised[need] === true || served.has(need) ? undefined : `the server does not serve ${need}`
  }
}
