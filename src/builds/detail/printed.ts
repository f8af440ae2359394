import { StringDecoder } from 'node:string_decoder'
import { Fields } from '../../proto/fields.js'
import type { BuildSecrets } from './secrets.js'

/** Of a text, in one turn of the event loop. */
export const PIECE_BYTES = 32 * 1024
/** Field numbers of build_event_stream.Progress. */
const STDOUT = 1
const STDERR = 2
const MAX_FIELDS = 1_000_000

/**
 * What a progress event printed, without secrets, in pieces as long as one turn of the event loop takes: a client may put
 * 16 MiB into one event. A build without a terminal writes to both outputs in turn; a terminal shows them in this order.
 */
export function* printedIn(progress: Buffer, secrets: BuildSecrets): Generator<string, void, undefined> {
  for (const _ of secrets.prepare()) yield ''
  const fields = new Fields(progress, 'build_event_stream.Progress', 0, progress.length, MAX_FIELDS)
  let stdout: Buffer = NOTHING
  let stderr: Buffer = NOTHING
  while (fields.next()) {
    const text = progress.subarray(fields.from, fields.to)
    if (fields.number === STDOUT) stdout = text
    if (fields.number === STDERR) stderr = text
  }
  yield* piecesOf(stderr, secrets)
  yield* piecesOf(stdout, secrets)
}

function* piecesOf(bytes: Buffer, secrets: BuildSecrets): Generator<string, void, undefined> {
  const hiding = secrets.pieces()
  const decoder = new StringDecoder('utf8')
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield hiding.take(decoder.write(bytes.subarray(at, at + PIECE_BYTES)))
  yield hiding.take(decoder.end()) + hiding.end()
}

const NOTHING = Buffer.alloc(0)
