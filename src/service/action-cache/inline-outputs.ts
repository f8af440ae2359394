import type { Call } from '../../base/call.js'
import { codec } from '../../proto/codec.js'
import type { ActionResult } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest, type DigestMessage } from '../../reapi/digest.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import { readBlob } from '../../store/content/read-blob.js'
import type { Store } from '../../store/store.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** What a client would like to have in the result itself (hints of GetActionResult and Execute). */
export interface InlineHints {
  readonly inlineStdout: boolean
  readonly inlineStderr: boolean
  /** Paths as they are in output_files. */
  readonly inlineOutputFiles: readonly string[]
}

export const asksForOutputs = ({ inlineStdout, inlineStderr, inlineOutputFiles }: InlineHints): boolean =>
  inlineStdout || inlineStderr || inlineOutputFiles.length > 0

export interface InlineContext {
  /** Undefined where outputs are not to be had. */
  readonly cas: Store | undefined
  readonly call: Call
  /** As long as the result may get. */
  readonly maxBytes: number
}

/**
 * Decodes a result, takes out what was not asked for and has a digest, and fills in what was asked for while there is room.
 * Digests stay set either way.
 */
export const withOutputs = async (
  encoded: Buffer,
  digestFunction: DigestFunction,
  hints: InlineHints,
  { cas, call, maxBytes }: InlineContext,
): Promise<ActionResult> => {
  const result = resultCodec.decode(encoded)
  let leftBytes = maxBytes - encoded.length
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
  return result
}

const NOTHING = Buffer.alloc(0)
// Tag and length of the field, and the growth of the length around it.
const FIELD_OVERHEAD_BYTES = 12
