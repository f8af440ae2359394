import type { Call } from '../../base/call.js'
import type { Clock } from '../../base/clock.js'
import { STREAMED_UPLOAD_BYTES } from '../../base/ledger/kinds.js'
import type { LentMessage, RequestMessages, ServedCall } from '../../base/rpc.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { within } from '../../base/work/deadline.js'
import type { WriteRequest, WriteResponseInput } from '../../proto/generated/google.bytestream.js'
import { missingOf } from '../../store/store.js'
import { STAGE_BYTES } from '../../stream/path.js'
import { inInstance } from '../instance.js'
import { uploaded } from '../uploaded.js'
import { windowFor } from '../windows.js'
import type { ByteStreamOptions } from './options.js'
import type { Outcome, Upload } from './upload.js'
import type { Uploads } from './uploads.js'
import { WriteCursor } from './write-cursor.js'
import { type WriteTarget, writeTarget } from './write-target.js'

/**
 * Takes one upload. Answers at once when the blob is there, also when another upload brings it in the meantime. Bytes of
 * a client that vanished stay for a while, to be resumed; nothing is committed without finish_write.
 */
export const write =
  ({ instances, uploads }: ByteStreamOptions) =>
  async (messages: Messages, rpc: ServedCall): Promise<WriteResponseInput> => {
    const first = await messages.next()
    if (first === undefined)
      throw new StatusError('INVALID_ARGUMENT', 'ByteStream.Write: the stream ended without a message')
    const { message } = first
    const target = writeTarget(instances, message.resourceName)
    rpc.note({ instance: target.instanceName })
    const call = inInstance(rpc, target.instanceName)
    const missing = await missingOf(target.cas, [target.digest], call)
    if (missing.length === 0) return { committedSize: earlySize(target) }
    const transfer = { target, messages, call, uploads, cursor: new WriteCursor(message) }
    return isAtOnce(message, target) ? writeAtOnce(transfer, first) : writeStreamed(transfer, first)
  }

type Messages = RequestMessages<WriteRequest>
type Message = LentMessage<WriteRequest>

interface Transfer {
  readonly target: WriteTarget
  readonly messages: Messages
  readonly call: Call
  readonly uploads: Uploads
  readonly cursor: WriteCursor
}

/** The committed_size of a blob that was there already (REAPI: -1 where the upload is compressed). */
const earlySize = ({ compressor, digest }: WriteTarget): number => (compressor === undefined ? digest.sizeBytes : -1)

/** More than this of one message is moved piece by piece, as if it were many. */
const AT_ONCE_BYTES = 64 * 1024

/** All of a blob, which needs no copy of its bytes that is large: a compressed one takes its room when it is unpacked. */
const isAtOnce = ({ finishWrite, writeOffset, data }: WriteRequest, { compressor }: WriteTarget): boolean =>
  finishWrite && writeOffset === 0 && (compressor !== undefined || data.length <= AT_ONCE_BYTES)

/** Most blobs are one message: they need neither a pipeline nor a place in the list of uploads. */
const writeAtOnce = async (transfer: Transfer, { message, release }: Message): Promise<WriteResponseInput> => {
  const { target, messages, call, uploads, cursor } = transfer
  cursor.accept(message)
  // Stores keep what is small as it is.
  const data = Buffer.from(message.data)
  release()
  const isDecodedAtOnce = target.compressor === undefined || target.digest.sizeBytes <= STAGE_BYTES
  const window = isDecodedAtOnce ? undefined : await windowFor(call)
  const commit = target.cas.put(target.digest, uploaded(data, target.digest, target.compressor), call)
  await committed(messages, commit, uploads.clock).finally(() => window?.release())
  uploads.finished(target.cas, target.digest)
  return { committedSize: target.compressor === undefined ? target.digest.sizeBytes : data.length }
}

const writeStreamed = async (transfer: Transfer, first: Message): Promise<WriteResponseInput> => {
  const { target, call } = transfer
  const { held } = call
  const buffers = held?.ledger.kinds.uploads.reserveOrThrow(held.holder, bufferBytes(target))
  try {
    // A compressed upload cannot be resumed: its window is not needed any more when this ends.
    const window = target.compressor === undefined ? undefined : await windowFor(call)
    return await writeFed(transfer, first).finally(() => window?.release())
  } finally {
    buffers?.release()
  }
}

/** Buffers are no larger than the blob. */
const bufferBytes = ({ digest }: WriteTarget): number =>
  Math.min(STREAMED_UPLOAD_BYTES, AT_ONCE_BYTES + digest.sizeBytes)

const writeFed = async (transfer: Transfer, first: Message): Promise<WriteResponseInput> => {
  const { target, uploads } = transfer
  const upload = await openUpload(transfer, first.message.writeOffset)
  const revoked = upload.own()
  // Ends the feeding when something else has settled the call; its messages then are of no interest any more.
  const feeding = { isOver: false }
  try {
    const fed = feed(upload, transfer, first, feeding)
    const endedEarly = upload.over.then((outcome) => (outcome === 'elsewhere' ? outcome : fed))
    const outcome = await Promise.race([fed, endedEarly, revoked])
    if (outcome === 'elsewhere') return { committedSize: earlySize(target) }
    return { committedSize: target.compressor === undefined ? target.digest.sizeBytes : upload.receivedBytes }
  } catch (error) {
    if (isInterruption(error)) uploads.park(upload)
    else if (!isStatus(error, 'ABORTED')) upload.discard()
    throw error
  } finally {
    feeding.isOver = true
  }
}

/** The upload to feed: a new one from offset 0, else the one that stands at the offset. */
const openUpload = async ({ target, call, uploads }: Transfer, offset: number): Promise<Upload> => {
  const broken = uploads.find(target)
  if (offset !== 0) {
    const expected = broken?.receivedBytes ?? 0
    if (broken !== undefined && offset === expected) {
      uploads.resume(broken)
      return broken
    }
    const problem = `write_offset of the first message is ${offset}, expected ${expected}, the committed_size so far`
    throw new StatusError('INVALID_ARGUMENT', `ByteStream.Write: ${problem}`)
  }
  return uploads.begin(target, call)
}

/** Moves messages into the upload, as fast as it takes them, until finish_write; then waits for the commit. */
const feed = async (
  upload: Upload,
  { messages, cursor, uploads }: Transfer,
  first: Message,
  feeding: { readonly isOver: boolean },
): Promise<Outcome> => {
  for (let { message, release } = first; !feeding.isOver; ) {
    cursor.accept(message)
    await upload.write(message.data)
    release()
    if (cursor.isFinished) {
      upload.finish()
      return committed(messages, upload.over, uploads.clock)
    }
    const next = await messages.next()
    if (next === undefined) throw new Unfinished(upload.receivedBytes)
    ;({ message, release } = next)
  }
  return upload.over
}

/** Waits for a commit, and for the end of the stream, so that a message after finish_write is noticed. */
const committed = async <T>(messages: Messages, commit: Promise<T>, clock: Clock): Promise<T> => {
  let hasEnded = false
  const ended = messages.next().then((next) => {
    if (next !== undefined)
      throw new StatusError('INVALID_ARGUMENT', 'ByteStream.Write: a message follows finish_write')
    hasEnded = true
  })
  const result = await Promise.race([commit, ended.then(() => commit)])
  if (!hasEnded) await within(HALF_CLOSE_MS, ended, clock)
  return result
}

// A client that half-closes only after the answer must get one: it waits this long in vain for the end of the stream.
const HALF_CLOSE_MS = 250

/** Half-closed without finish_write: nothing is committed, but another Write may go on from here. */
class Unfinished extends StatusError {
  constructor(receivedBytes: number) {
    super(
      'INVALID_ARGUMENT',
      `ByteStream.Write: the stream ended after ${receivedBytes} bytes without finish_write, so nothing was committed`,
    )
  }
}

/** The client stopped in the middle, by its own will or not: what came so far may be continued. */
const isInterruption = (error: unknown): boolean =>
  error instanceof Unfinished || isStatus(error, 'CANCELLED') || isStatus(error, 'DEADLINE_EXCEEDED')
