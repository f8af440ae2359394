import { isStatus, StatusError } from '../../base/status-error.js'
import { putBytes, type Store } from '../../blobs/store.js'
import { readAction, readCommand } from '../../content/action.js'
import { codec } from '../../proto/codec.js'
import type { ActionResult, UpdateActionResultRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { checkOutputs, reachesUp, referencedBlobs } from '../../reapi/action-result.js'
import { workingDirectory } from '../../reapi/command.js'
import { Digest, type DigestMessage } from '../../reapi/digest.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import { setOrigin } from '../../reapi/result-origin.js'
import type { Call } from '../../rpc/call.js'
import type { Visitor } from '../../rpc/gate.js'
import type { RpcCall, ServedCall } from '../../rpc/rpc.js'
import { boundedMap, LANES } from '../../work/bounded-map.js'
import { openRequest, requestDigest } from '../request.js'
import type { ActionCacheOptions } from './options.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/**
 * Stores a result under its action digest. The digest need not be that of an Action (moon uses the digest of a JSON
 * file). Outputs may be absent from the CAS: the entry is then a miss until they are uploaded.
 */
export const updateActionResult =
  ({ instances, maxResponseBytes }: ActionCacheOptions) =>
  async (request: UpdateActionResultRequest, rpc: RecordedCall): Promise<ActionResult> => {
    const { instance, call, functions } = openRequest(instances, request, rpc)
    const { results, cas, isReadOnly } = instance
    if (isReadOnly) {
      const shown = JSON.stringify(request.instanceName)
      throw new StatusError('PERMISSION_DENIED', `the action cache of instance ${shown} is read-only for clients`)
    }
    const action = requestDigest(request.actionDigest, functions, 'action_digest')
    const result = request.actionResult
    if (result === null) throw new StatusError('INVALID_ARGUMENT', 'action_result is missing')
    const { visitor } = rpc
    const scope = visitor?.scopeIn(request.instanceName)
    const target = { ac: results.of(scope), cas, visitor, scope: scope?.name }
    await storeResult(action, result, { ...target, maxBytes: maxResponseBytes }, call)
    rpc.record?.({ action: action.key, outcome: 'written' })
    return result
  }

type RecordedCall = RpcCall & Pick<ServedCall, 'record'>

interface ResultTarget {
  readonly ac: Store
  readonly cas: Store | undefined
  /** The uploading client. */
  readonly visitor: Visitor | undefined
  /** Of that client. */
  readonly scope?: string | undefined
  readonly maxBytes: number
}

/** Checks a result of a client and stores it. Outputs inside it that have a digest move into the CAS. */
export const storeResult = async (
  action: Digest,
  result: ActionResult,
  { ac, cas, visitor, scope, maxBytes }: ResultTarget,
  call: Call,
): Promise<void> => {
  referencedBlobs(result, action.function)
  checkOutputs(result, reachesUp(result) ? await startOfPaths(action, cas, call) : '')

  if (cas !== undefined) await moveInlined(result, cas, action.function, call)
  const bytes = resultCodec.encode(withOriginOf(visitor, scope, result))
  if (bytes.length > maxBytes) {
    const problem = `action_result has ${bytes.length} bytes, expected at most ${maxBytes}`
    throw new StatusError('INVALID_ARGUMENT', `${problem}: put stdout, stderr and outputs into the CAS`)
  }
  await putBytes(ac, action, bytes, call)
}

/**
 * The result as it is stored. Its origin is the identity of the uploading client; an origin in the request is replaced.
 */
const withOriginOf = (visitor: Visitor | undefined, scope: string | undefined, result: ActionResult): ActionResult => {
  if (visitor === undefined) return result
  const { nameInResults: identity } = visitor
  const kept = { ...result, executionMetadata: result.executionMetadata && { ...result.executionMetadata } }
  setOrigin(
    kept,
    identity === undefined ? undefined : { identity, storedMs: Date.now(), ...(scope !== undefined && { scope }) },
  )
  return kept
}

/**
 * The working directory of the action; output paths are relative to it. Empty if it is unknown, because the digest is
 * not that of an Action or the Action is not in the CAS. Output paths with `..` are then refused.
 */
const startOfPaths = async (action: Digest, cas: Store | undefined, call: Call): Promise<string> => {
  if (cas === undefined) return ''
  try {
    const { commandDigest } = await readAction(cas, action, call)
    return workingDirectory(await readCommand(cas, Digest.parse(commandDigest, action.function), call))
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'INVALID_ARGUMENT')) return ''
    throw error
  }
}

/**
 * Moves inlined outputs with a digest into the CAS, where every client finds them; the result keeps the digest. The CAS
 * refuses bytes that do not match their digest.
 */
const moveInlined = async (
  result: ActionResult,
  cas: Store,
  digestFunction: DigestFunction,
  call: Call,
): Promise<void> => {
  const inlined: { readonly digest: Digest; readonly bytes: Buffer }[] = []
  const take = (digest: DigestMessage | null, bytes: Buffer): Buffer => {
    if (digest === null || bytes.length === 0) return bytes
    inlined.push({ digest: Digest.parse(digest, digestFunction), bytes })
    return NOTHING
  }
  result.stdoutRaw = take(result.stdoutDigest, result.stdoutRaw)
  result.stderrRaw = take(result.stderrDigest, result.stderrRaw)
  for (const file of result.outputFiles) file.contents = take(file.digest, file.contents)
  await boundedMap(inlined, LANES, ({ digest, bytes }) => putBytes(cas, digest, bytes, call))
}

const NOTHING = Buffer.alloc(0)
