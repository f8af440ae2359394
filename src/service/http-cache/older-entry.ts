import { codec } from '../../proto/codec.js'
import { Digest } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import type { EntryContent } from './entry-record.js'
import { fieldsIn, type KeptFields } from './kept-fields.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

const HEADERS = 'type.googleapis.com/remexec.http.Headers'

/**
 * Entries as builds from before 2026-11-28 wrote them: ActionResults under a digest that every client can compute. Who may
 * write results can write such an entry too, so they are only read where all callers have the same rights.
 */
export const keyOfOlderEntry = (instanceName: string, key: readonly string[]): Digest =>
  Digest.of(Buffer.from(['http-entry/1', instanceName, ...key].join('\0')), digestFunctions.SHA256).asKey()

/** Throws INVALID_ARGUMENT if the bytes are no ActionResult. */
export const decodeOlderEntry = (encoded: Buffer): EntryContent => {
  const { outputFiles, stdoutRaw: inline, executionMetadata } = resultCodec.decode(encoded)
  const [file] = outputFiles
  const digest = file && Digest.parse(file.digest, digestFunctions.SHA256)
  const kept = executionMetadata?.auxiliaryMetadata.find(({ typeUrl }) => typeUrl === HEADERS)
  return { digest, inline, fields: kept === undefined ? {} : fieldsFrom(kept.value) }
}

const fieldsFrom = (json: Buffer): KeptFields => {
  let headers: unknown
  try {
    headers = JSON.parse(json.toString())
  } catch {
    return {}
  }
  const known = new Map(typeof headers === 'object' && headers !== null ? Object.entries(headers) : [])
  return fieldsIn((name) => known.get(name)).fields
}
