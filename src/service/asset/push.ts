import { StatusError } from '../../base/status-error.js'
import type {
  PushBlobRequest,
  PushBlobResponseInput,
  PushDirectoryRequest,
} from '../../proto/generated/build.bazel.remote.asset.v1.js'
import { toMs } from '../../proto/time.js'
import { missingBlobs } from '../../reapi/action.js'
import type { DigestMessage } from '../../reapi/digest.js'
import type { RpcCall, Service } from '../../rpc/rpc.js'
import { openRequest, requestDigest, requestDigests } from '../request.js'
import type { AssetKind, AssetRecord } from './asset-record.js'
import type { PushOptions } from './options.js'
import { parseQualifiers } from './qualifiers.js'
import { nameOfUri } from './records.js'
import { checkUris } from './uris.js'

/** Push of the Remote Asset API: clients state which content belongs to a URI. */
export const pushService = (options: PushOptions): Service => ({
  name: 'build.bazel.remote.asset.v1.Push',
  instances: options.instances,
  unary: {
    PushBlob: (request: PushBlobRequest, rpc: RpcCall) => push('blob', request.blobDigest, request, rpc, options),
    PushDirectory: (request: PushDirectoryRequest, rpc: RpcCall) =>
      push('directory', request.rootDirectoryDigest, request, rpc, options),
  },
})

type PushRequest = Omit<PushBlobRequest, 'blobDigest'>

/**
 * Stores one record for each URI. FAILED_PRECONDITION lists what is not in the CAS: a record that refers to absent content would never
 * be found.
 */
const push = async (
  kind: AssetKind,
  message: DigestMessage | null,
  request: PushRequest,
  rpc: RpcCall,
  { instances, clock }: PushOptions,
): Promise<PushBlobResponseInput> => {
  const { instance, call, functions } = openRequest(instances, request, rpc)
  if (instance.isReadOnly) {
    const shown = JSON.stringify(request.instanceName)
    throw new StatusError('PERMISSION_DENIED', `assets of instance ${shown} are read-only for clients`)
  }
  checkUris(request.uris)
  const qualifiers = parseQualifiers(request.qualifiers, request.uris.length)
  const digest = requestDigest(message, functions, kind === 'blob' ? 'blob_digest' : 'root_directory_digest')
  const others = { ...functions, value: digest.function.value }
  const record: AssetRecord = {
    ...{ kind, digest, uri: '', qualifiers: qualifiers.identifying, etag: '' },
    identity: rpc.visitor?.nameInResults,
    validAtMs: clock.now(),
    expiresAtMs: request.expireAt === null ? undefined : toMs(request.expireAt),
    blobs: requestDigests(request.referencesBlobs, others, 'references_blobs'),
    directories: requestDigests(request.referencesDirectories, others, 'references_directories'),
  }
  const missing = await instance.firstMissing(record, call)
  if (missing !== undefined) throw missingBlobs([missing])
  const records = instance.recordsFor(rpc.visitor?.scopeIn(request.instanceName))
  for (const uri of request.uris) {
    const name = nameOfUri(kind, uri, qualifiers.identifying, digest.function)
    await records.put(name, { ...record, uri }, call)
  }
  return {}
}
