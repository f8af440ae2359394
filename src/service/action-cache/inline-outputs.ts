import { isStatus } from '../../base/status-error.js'
import { ResultMiss } from '../../blobs/result-miss.js'
import type { Store } from '../../blobs/store.js'
import { readBlob } from '../../content/read-blob.js'
import { codec } from '../../proto/codec.js'
import { Fields } from '../../proto/fields.js'
import type { ActionResult } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest, type DigestMessage } from '../../reapi/digest.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import type { Call } from '../../rpc/call.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const fileCodec = codec('build.bazel.remote.execution.v2.OutputFile')

/** Outputs that a client wants inside the result (hints of GetActionResult and Execute). */
export interface InlineHints {
  readonly inlineStdout: boolean
  readonly inlineStderr: boolean
  /** Paths as in output_files. */
  readonly inlineOutputFiles: readonly string[]
}

export const asksForOutputs = ({ inlineStdout, inlineStderr, inlineOutputFiles }: InlineHints): boolean =>
  inlineStdout || inlineStderr || inlineOutputFiles.length > 0

const OUTPUT_FILES = 2
const STDOUT_RAW = 5
const STDERR_RAW = 7
const CONTENTS = 5

/** From this size on it is cheaper to remember the answer than to walk over the fields again. */
const REMEMBERED_BYTES = 2048
const remembered = new WeakMap<Buffer, boolean>()

/**
 * Whether an encoded result contains outputs, so that `withOutputs` may change it also without hints. A store with an
 * entry in memory returns the same buffer each time, so a large one is read once.
 */
export const containsOutputs = (encoded: Buffer): boolean => {
  if (encoded.length < REMEMBERED_BYTES) return hasOutputs(encoded)
  const before = remembered.get(encoded)
  if (before !== undefined) return before
  const contains = hasOutputs(encoded)
  remembered.set(encoded, contains)
  return contains
}

const hasOutputs = (encoded: Buffer): boolean => {
  const fields = new Fields(encoded, resultCodec.typeName)
  while (fields.next()) {
    if (fields.number === STDOUT_RAW || fields.number === STDERR_RAW) return true
    if (fields.number !== OUTPUT_FILES) continue
    const ofFile = new Fields(encoded, fileCodec.typeName, fields.from, fields.to)
    while (ofFile.next()) if (ofFile.number === CONTENTS) return true
  }
  return false
}

export interface InlineContext {
  /** Undefined if outputs cannot be read. */
  readonly cas: Store | undefined
  readonly call: Call
  /** Maximum size of the encoded result, inlined outputs included. */
  readonly maxBytes: number
}

/**
 * Decodes a result and inlines the requested outputs until `maxBytes` is reached. Removes inlined contents that were
 * not requested and have a digest. Digests always stay set.
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
    return outputOf(cas, Digest.parse(digest, digestFunction), call)
  }
  result.stdoutRaw = await inline(hints.inlineStdout, result.stdoutDigest, result.stdoutRaw)
  result.stderrRaw = await inline(hints.inlineStderr, result.stderrDigest, result.stderrRaw)
  const paths = new Set(hints.inlineOutputFiles)
  for (const file of result.outputFiles) file.contents = await inline(paths.has(file.path), file.digest, file.contents)
  return result
}

/** An output that has just left the CAS makes the result incomplete. */
const outputOf = async (cas: Store, output: Digest, call: Call): Promise<Buffer> => {
  try {
    return await readBlob(cas, output, call)
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) throw new ResultMiss({ kind: 'incomplete', output }, error.message)
    throw error
  }
}

const NOTHING = Buffer.alloc(0)
// Tag and length of the field, and the growth of the enclosing length.
const FIELD_OVERHEAD_BYTES = 12
