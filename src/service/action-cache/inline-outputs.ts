import type { Call } from '../../base/call.js'
import type { ActionResult } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest, type DigestMessage } from '../../reapi/digest.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import { readBlob } from '../../store/content/read-blob.js'
import type { Store } from '../../store/store.js'

/** What a client would like to have in the result itself (hints of GetActionResult and Execute). */
export interface InlineHints {
  readonly inlineStdout: boolean
  readonly inlineStderr: boolean
  /** Paths as they are in output_files. */
  readonly inlineOutputFiles: readonly string[]
}

/**
 * Takes out what was not asked for and has a digest, then fills in what was asked for while the result, `resultBytes`
 * long, stays within `maxBytes`. Digests stay set either way.
 */
export const inlineOutputs = async (
  result: ActionResult,
  hints: InlineHints,
  { cas, digestFunction, call, maxBytes, resultBytes }: InlineContext,
): Promise<void> => {
  let leftBytes = maxBytes - resultBytes
  const inline = async (isAsked: boolean, digest: DigestMessage | null, raw: Buffer): Promise<Buffer> => {
    if (digest === null) return raw
    if (!isAsked) return NOTHING
    const costBytes = digest.sizeBytes + FIELD_OVERHEAD_BYTES
    if (raw.length > 0 || cas === undefined || costBytes > leftBytes) return raw
    leftBytes -= costBytes
    return readBlob(cas, Digest.parse(digest, digestFunction), call)
  }
  result.stdoutRaw = await inline(hints.inlineStdout, result.stdoutDigest, result.stdoutRaw)
  result.stderrRaw = await inline(hints.inlineStderr, result.stderrDigest, result.stderrRaw)
  const paths = new Set(hints.inlineOutputFiles)
  for (const file of result.outputFiles) file.contents = await inline(paths.has(file.path), file.digest, file.contents)
}

export interface InlineContext {
  readonly cas: Store | undefined
  readonly digestFunction: DigestFunction
  readonly call: Call
  readonly maxBytes: number
  readonly resultBytes: number
}

const NOTHING = Buffer.alloc(0)
// Tag and length of the field, and the growth of the length around it.
const FIELD_OVERHEAD_BYTES = 12
