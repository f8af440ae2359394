import { createHash } from 'node:crypto'
import { Code } from '../proto/status-code.js'
import { type Comparison, fieldsOf } from './compare.js'
import type { Content } from './content.js'
import { fromJson, isDigestText, type Json } from './json-form.js'

/**
 * Compares two ActionResults as clients read them: stdout and stderr may be bytes or digests, output contents may be
 * inlined. `inlined` collects the digests that the client then need not read.
 */
export const compareActionResult = (
  comparison: Comparison,
  content: Content,
  inlined: Set<string>,
  pair: { readonly recorded: Json | undefined; readonly actual: Json | undefined; readonly path: string },
): void => {
  const { path } = pair
  const [recorded, actual] = [fieldsOf(pair.recorded), fieldsOf(pair.actual)]
  for (const stream of ['stdout', 'stderr']) {
    compareStream(comparison, content, inlined, { recorded, actual, stream, path })
  }
  for (const file of (actual['outputFiles'] ?? []) as readonly Json[]) checkContents(comparison, file, path)
  comparison.compare(readable(recorded), readable(actual), path)
  const [had, has] = [recorded, actual].map((fields) => 'executionMetadata' in fields)
  if (had !== has) comparison.differs(`${path}.executionMetadata`, shown(had), shown(has))
}

const shown = (isThere: boolean | undefined): string => (isThere ? 'present' : 'absent')

const STREAM_FIELDS = ['stdoutRaw', 'stdoutDigest', 'stderrRaw', 'stderrDigest', 'executionMetadata']

/** The fields that are not compared separately. */
const readable = (result: { readonly [field: string]: Json }): Json =>
  Object.fromEntries(
    Object.entries(result)
      .filter(([name]) => !STREAM_FIELDS.includes(name))
      .map(([name, value]) => [name, name === 'outputFiles' ? withoutContents(value) : value]),
  )

const withoutContents = (files: Json): Json =>
  (files as readonly Json[]).map((file) => {
    const { contents: _, ...rest } = fieldsOf(file)
    return rest
  })

const compareStream = (
  comparison: Comparison,
  content: Content,
  inlined: Set<string>,
  how: {
    readonly recorded: { readonly [field: string]: Json }
    readonly actual: { readonly [field: string]: Json }
    readonly stream: string
    readonly path: string
  },
): void => {
  const { recorded, actual, stream, path } = how
  const digest = recorded[`${stream}Digest`]
  const actualDigest = actual[`${stream}Digest`]
  const raw = actual[`${stream}Raw`]
  const recordedRaw = recorded[`${stream}Raw`]
  const expected = isDigestText(digest)
    ? content.expectedBytes(digest)
    : bytesOf(content.mapped(recordedRaw ?? { text: '' }))
  const isEmpty = actualDigest === undefined || String(actualDigest).endsWith('/0')
  if (raw !== undefined || isEmpty) {
    const found = bytesOf(raw ?? { text: '' })
    if (expected !== undefined && !expected.equals(found)) {
      comparison.differs(`${path}.${stream}`, expected.toString(), found.toString())
    }
    if (isDigestText(digest)) inlined.add(digest)
  }
  if (isDigestText(digest) && isDigestText(actualDigest))
    comparison.compare(digest, actualDigest, `${path}.${stream}Digest`)
}

const checkContents = (comparison: Comparison, file: Json, path: string): void => {
  const { contents, digest, path: name } = fieldsOf(file)
  if (contents === undefined) return
  const bytes = bytesOf(contents)
  if (bytes.length === 0) return
  const found = `${createHash('sha256').update(bytes).digest('hex')}/${bytes.length}`
  if (digest !== found) comparison.differs(`${path}.outputFiles[${name}].contents`, digest, found)
}

const bytesOf = (form: Json): Buffer => {
  const bytes = fromJson(form)
  return Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0)
}

/** The code of a google.rpc.Status in JSON form; absent means OK. */
export const statusCode = (form: Json | undefined): number => Number(fieldsOf(form)['code'] ?? Code.OK)
