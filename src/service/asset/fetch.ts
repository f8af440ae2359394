import { StatusError } from '../../base/status-error.js'
import { statusOf } from '../../proto/error-details.js'
import type {
  FetchBlobRequest,
  FetchBlobResponseInput,
  FetchDirectoryRequest,
  FetchDirectoryResponseInput,
} from '../../proto/generated/build.bazel.remote.asset.v1.js'
import { requestMetadata } from '../../proto/request-metadata.js'
import { timestampOf, toMs } from '../../proto/time.js'
import { resolveDigestFunction } from '../../reapi/digest.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import type { Call } from '../../rpc/call.js'
import type { RpcCall, Service } from '../../rpc/rpc.js'
import { openRequest } from '../request.js'
import type { AssetKind, AssetRecord } from './asset-record.js'
import type { FetchOutcome, Lookup } from './lookup.js'
import type { FetchOptions } from './options.js'
import { parseQualifiers, unsupported } from './qualifiers.js'
import { type AssetRecords, nameOfChecksum, nameOfUri } from './records.js'
import { checkUris } from './uris.js'

/** Fetch of the Remote Asset API: content by URI, from what was pushed or downloaded before, or downloaded now. */
export const fetchService = (options: FetchOptions): Service => ({
  name: 'build.bazel.remote.asset.v1.Fetch',
  instances: options.instances,
  unary: { FetchBlob: fetchBlob(options), FetchDirectory: fetchDirectory(options) },
})

const fetchBlob =
  (options: FetchOptions) =>
  async (request: FetchBlobRequest, rpc: RpcCall): Promise<FetchBlobResponseInput> => {
    const { outcome, digestFunction } = await fetch('blob', request, rpc, options)
    if (outcome.kind === 'failed' && ignoresStatus(rpc)) throw outcome.error
    return outcome.kind === 'found'
      ? { ...foundFields(outcome.record), blobDigest: outcome.record.digest.toMessage() }
      : { ...failedFields(outcome.error, digestFunction), blobDigest: noBlob(digestFunction) }
  }

const fetchDirectory =
  (options: FetchOptions) =>
  async (request: FetchDirectoryRequest, rpc: RpcCall): Promise<FetchDirectoryResponseInput> => {
    const { outcome, digestFunction } = await fetch('directory', request, rpc, options)
    return outcome.kind === 'found'
      ? { ...foundFields(outcome.record), rootDirectoryDigest: outcome.record.digest.toMessage() }
      : { ...failedFields(outcome.error, digestFunction), rootDirectoryDigest: noBlob(digestFunction) }
  }

/** Bazel up to 8.0 reads only the digest: the failure of the call is the only one that its users see. */
const ignoresStatus = ({ metadata }: RpcCall): boolean => {
  const about = requestMetadata(metadata)
  if (about === undefined || about === 'undecodable' || about.toolDetails?.toolName !== 'bazel') return false
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(about.toolDetails.toolVersion) ?? []
  return major === undefined || Number(major) < 8 || (major === '8' && minor === '0')
}

const foundFields = ({ uri, qualifiers, expiresAtMs, digest }: AssetRecord) => ({
  status: {},
  uri,
  qualifiers,
  expiresAt: expiresAtMs === undefined ? null : timestampOf(expiresAtMs),
  digestFunction: digest.function.value,
})

const failedFields = (error: StatusError, digestFunction: DigestFunction) => ({
  status: statusOf(error),
  digestFunction: digestFunction.value,
})

/** A client that ignores the status uses the digest. An empty one would give it an empty file. */
const noBlob = ({ hexLength }: DigestFunction) => ({ hash: '0'.repeat(hexLength), sizeBytes: 1 })

type FetchRequest = FetchBlobRequest

const fetch = async (
  kind: AssetKind,
  request: FetchRequest,
  rpc: RpcCall,
  { instances, clock }: FetchOptions,
): Promise<{ readonly outcome: FetchOutcome; readonly digestFunction: DigestFunction }> => {
  const { instance, call, functions } = openRequest(instances, request, rpc)
  checkUris(request.uris)
  const digestFunction = resolveDigestFunction(functions.value, undefined, functions.served)
  const qualifiers = parseQualifiers(request.qualifiers, request.uris.length)
  const { unknown } = qualifiers
  if (unknown.length > 0 && !instance.acceptsPushes) throw unsupported(unknown)
  const lookup: Lookup = {
    ...{ kind, uris: request.uris, qualifiers, digestFunction, nowMs: clock.now() },
    oldestMs: request.oldestContentAccepted === null ? -Infinity : toMs(request.oldestContentAccepted),
  }
  const scope = rpc.visitor?.scopeIn(request.instanceName)
  const records = instance.recordsFor(scope)
  const record = await knownAsset(lookup, records, call)
  if (record !== undefined) return { outcome: { kind: 'found', record }, digestFunction }
  const { downloads } = instance
  const isWeb = request.uris.some((uri) => /^https?:/i.test(uri))
  if (kind === 'directory' || downloads === undefined || !isWeb || unknown.length > 0) {
    const what = `no ${kind} with ${request.uris.length === 1 ? 'this URI' : 'these URIs'} and qualifiers is known`
    const how = downloads === undefined ? ', and this instance downloads nothing' : ''
    return { outcome: { kind: 'failed', error: new StatusError('NOT_FOUND', what + how) }, digestFunction }
  }
  const timeoutMs = request.timeout === null ? undefined : toMs(request.timeout)
  return { outcome: await downloads.fetch({ ...lookup, timeoutMs, scope }, clientOf(rpc), call), digestFunction }
}

/** Whose downloads share turns: those of an identity, or of an address. */
const clientOf = ({ visitor, peer }: RpcCall): string =>
  visitor?.nameInResults === undefined ? peer.replace(/:\d+$/, '') : visitor.identity

/** Content whose checksum was checked never gets old. Content under a URI is that of the time when it was pushed or downloaded. */
const knownAsset = async (
  { kind, uris, qualifiers, digestFunction, nowMs, oldestMs }: Lookup,
  records: readonly AssetRecords[],
  call: Call,
): Promise<AssetRecord | undefined> => {
  const { identifying, withoutChecksum, integrity } = qualifiers
  const { algorithm = '', hashes = [] } = (kind === 'blob' ? integrity : undefined) ?? {}
  const isFresh = ({ validAtMs, expiresAtMs = Infinity }: AssetRecord) => validAtMs >= oldestMs && expiresAtMs > nowMs
  // The digest of a pushed blob may be its checksum too.
  const isDigest = algorithm === digestFunction.name.toLowerCase()
  for (const store of records) {
    for (const hash of hashes) {
      const record = await store.get(nameOfChecksum(algorithm, hash, digestFunction), digestFunction, call)
      if (record !== undefined) return { ...record, uri: uris[0] ?? '', qualifiers: identifying }
    }
    for (const uri of uris) {
      const record = await store.get(nameOfUri(kind, uri, identifying, digestFunction), digestFunction, call)
      if (record !== undefined && isFresh(record)) return record
      if (!isDigest) continue
      const unchecked = await store.get(nameOfUri(kind, uri, withoutChecksum, digestFunction), digestFunction, call)
      if (unchecked === undefined || !isFresh(unchecked) || !hashes.includes(unchecked.digest.hash)) continue
      return { ...unchecked, qualifiers: identifying }
    }
  }
  return undefined
}
