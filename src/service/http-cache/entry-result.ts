import type { Kept } from '../../content/put-unnamed.js'
import { codec } from '../../proto/codec.js'
import { Fields, writeFieldHead } from '../../proto/fields.js'
import type { ActionResult } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import { setOrigin } from '../../reapi/result-origin.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const metadataCodec = codec('build.bazel.remote.execution.v2.ExecutedActionMetadata')

/** In the auxiliary metadata: the kept headers of an entry as JSON. */
const HEADERS = 'type.googleapis.com/remexec.http.Headers'
const STDOUT_RAW = 5
/** Its tag and length. */
const MAX_HEAD_BYTES = 6

type Headers = Readonly<Record<string, string>>

/** What an entry says. */
interface EntryContent {
  /** Undefined if the body is `inline`. */
  readonly digest: Digest | undefined
  readonly inline: Buffer
  readonly headers: Headers
}

/**
 * An entry as an ActionResult: a short body is its stdout, a longer one its output file. Most entries are a short body
 * and nothing else. Those are written and read without the codec, which takes 4 us.
 */
export const encodeEntry = (kept: Kept, headers: Headers, identity: string | undefined): Buffer => {
  const hasHeaders = Object.keys(headers).length > 0
  if ('inline' in kept && !hasHeaders && identity === undefined) return encodeInline(kept.inline)
  const result: ActionResult = resultCodec.decode(NOTHING)
  if ('inline' in kept) result.stdoutRaw = kept.inline
  else result.outputFiles.push({ ...EMPTY_FILE, path: 'body', digest: kept.digest.toMessage() })
  if (hasHeaders) {
    result.executionMetadata = metadataCodec.decode(NOTHING)
    const value = Buffer.from(JSON.stringify(headers))
    result.executionMetadata.auxiliaryMetadata = [{ typeUrl: HEADERS, value }]
  }
  if (identity !== undefined) setOrigin(result, { identity })
  return resultCodec.encode(result)
}

/** Throws INVALID_ARGUMENT if the bytes are no ActionResult. */
export const decodeEntry = (encoded: Buffer): EntryContent => {
  const only = onlyInline(encoded)
  if (only !== undefined) return { digest: undefined, inline: only, headers: NO_HEADERS }
  const result = resultCodec.decode(encoded)
  const [file] = result.outputFiles
  const digest = file && Digest.parse(file.digest, digestFunctions.SHA256)
  return { digest, inline: result.stdoutRaw, headers: headersOf(result) }
}

const encodeInline = (body: Buffer): Buffer => {
  if (body.length === 0) return NOTHING
  const encoded = Buffer.allocUnsafe(MAX_HEAD_BYTES + body.length)
  const headBytes = writeFieldHead(encoded, 0, STDOUT_RAW, body.length)
  return encoded.subarray(0, headBytes + body.copy(encoded, headBytes))
}

/** The body of an entry that is nothing else. */
const onlyInline = (encoded: Buffer): Buffer | undefined => {
  const fields = new Fields(encoded, resultCodec.typeName)
  if (!fields.next() || fields.number !== STDOUT_RAW || fields.to !== encoded.length) return undefined
  return encoded.subarray(fields.from, fields.to)
}

const headersOf = ({ executionMetadata }: ActionResult): Headers => {
  const kept = executionMetadata?.auxiliaryMetadata.find(({ typeUrl }) => typeUrl === HEADERS)
  return kept === undefined ? NO_HEADERS : JSON.parse(kept.value.toString())
}

const NOTHING = Buffer.alloc(0)
const NO_HEADERS: Headers = {}
const EMPTY_FILE = { isExecutable: false, contents: NOTHING, nodeProperties: null }
