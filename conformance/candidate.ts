import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { credentials } from '@grpc/grpc-js'
import { codeName } from '../src/base/status-error.js'
import { Compressor, DigestFunction } from '../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Need } from './check.js'
import { Client } from './client.js'
import type { Candidate } from './exam.js'
import * as methods from './methods.js'

export interface TargetSettings {
  /** `grpc://host:port` or `grpcs://host:port`. */
  readonly address: string
  readonly instanceName: string
  readonly secondInstanceName?: string | undefined
  readonly readOnlyInstanceName?: string | undefined
  readonly cacheOnlyInstanceName?: string | undefined
  readonly properties: Candidate['properties']
  readonly headers: Readonly<Record<string, string>>
  readonly tls: {
    readonly ca?: string | undefined
    readonly cert?: string | undefined
    readonly key?: string | undefined
  }
}

/** The exam cannot be taken: one line that says why. */
export class TargetError extends Error {
  override readonly name = 'TargetError'
}

const PATIENCE_MS = 5_000

/** Connects, and asks for the capabilities. Throws a TargetError when nothing like a REAPI server answers. */
export const openCandidate = async (settings: TargetSettings): Promise<Candidate> => {
  const match = /^(grpcs?):\/\/([^/]+:\d+)$/.exec(settings.address)
  const [, scheme, hostPort] = match ?? []
  if (hostPort === undefined) {
    throw new TargetError(`${settings.address}: expected grpc://host:port or grpcs://host:port`)
  }
  const secure = scheme === 'grpcs'
  const file = (path: string | undefined): Buffer | null => (path === undefined ? null : readFileSync(path))
  const { ca, cert, key } = settings.tls
  const channelCredentials = secure
    ? credentials.createSsl(file(ca), file(key), file(cert))
    : credentials.createInsecure()
  const identity = { toolName: 'remexec-conformance', invocationId: randomUUID() }
  const connect = (): Client => new Client(hostPort, channelCredentials, { headers: settings.headers, identity })
  const client = connect()
  try {
    await client.waitForReady(PATIENCE_MS)
  } catch {
    client.close()
    throw new TargetError(
      `${settings.address}: no HTTP/2 server answers there${secure ? ' over TLS' : ' in plaintext'}`,
    )
  }
  const request = { instanceName: settings.instanceName }
  const outcome = await client.call(methods.getCapabilities, request, { deadlineMs: PATIENCE_MS })
  const [capabilities] = outcome.responses
  if (outcome.code !== 0 || capabilities === undefined) {
    client.close()
    const reason = outcome.garbage ?? `${codeName(outcome.code)} ${outcome.message.slice(0, 200)}`
    throw new TargetError(`${settings.address}: GetCapabilities did not succeed: ${reason}`)
  }
  return {
    client,
    connect,
    instanceName: settings.instanceName,
    secondInstanceName: settings.secondInstanceName,
    readOnlyInstanceName: settings.readOnlyInstanceName,
    cacheOnlyInstanceName: settings.cacheOnlyInstanceName,
    capabilities,
    properties: settings.properties,
  }
}

/** Asks each optional service something harmless; what answers UNIMPLEMENTED is not there. */
export const servedServices = async (candidate: Candidate): Promise<ReadonlySet<Need>> => {
  const { client, instanceName } = candidate
  const probes: [Need, methods.Method<methods.Any, methods.Any>, object][] = [
    ['cas', methods.findMissingBlobs, { instanceName }],
    ['bytestream', methods.queryWriteStatus, { resourceName: 'probe' }],
    ['action-cache', methods.getActionResult, { instanceName }],
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
      return code === 12 ? [] : [need]
    }),
  )
  return new Set(answers.flat())
}

/** Why the candidate cannot be asked for something, or undefined when it can. */
export const lacks = (candidate: Candidate, served: ReadonlySet<Need>): ((need: Need) => string | undefined) => {
  const { cacheCapabilities, executionCapabilities } = candidate.capabilities
  const compressors = cacheCapabilities?.supportedCompressors ?? []
  const functions = cacheCapabilities?.digestFunctions ?? []
  const claims: Partial<Record<Need, boolean>> = {
    execution: executionCapabilities?.execEnabled === true,
    'action-cache-update': cacheCapabilities?.actionCacheUpdateCapabilities?.updateEnabled === true,
    'compressor:zstd': compressors.includes(Compressor.ZSTD),
    'compressor:deflate': compressors.includes(Compressor.DEFLATE),
    'compressor:brotli': compressors.includes(Compressor.BROTLI),
    'batch-compressor:zstd': cacheCapabilities?.supportedBatchUpdateCompressors.includes(Compressor.ZSTD) === true,
    'digest-function:SHA1': functions.includes(DigestFunction.SHA1),
    'digest-function:BLAKE3': functions.includes(DigestFunction.BLAKE3),
    'split-splice': cacheCapabilities?.splitBlobSupport === true && cacheCapabilities.spliceBlobSupport,
  }
  const flags: Partial<Record<Need, [string | undefined, string]>> = {
    'second-instance': [candidate.secondInstanceName, '--second-instance-name'],
    'read-only-instance': [candidate.readOnlyInstanceName, '--read-only-instance'],
    'cache-only-instance': [candidate.cacheOnlyInstanceName, '--cache-only-instance'],
  }
  return (need) => {
    const flag = flags[need]
    if (flag !== undefined) return flag[0] === undefined ? `needs ${flag[1]}` : undefined
    if (need === 'tls') return 'needs a grpcs:// address'
    const claim = claims[need]
    if (claim !== undefined) return claim ? undefined : `the server does not announce ${need}`
    return served.has(need) ? undefined : `the server does not serve ${need}`
  }
}
