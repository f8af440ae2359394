import type { Clock } from '../../base/clock.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { missingOf } from '../../blobs/store.js'
import { STREAMED_UPLOAD_BYTES } from '../../ledger/kinds.js'
import type { WriteRequest, WriteResponseInput } from '../../proto/generated/google.bytestream.js'
import type { Call } from '../../rpc/call.js'
import type { LentMessage, RequestMessages, ServedCall } from '../../rpc/rpc.js'
import { within } from '../../work/deadline.js'
import { inInstance } from '../instance.js'
import { isDecodedAtOnce, uploaded } from '../uploaded.js'
import { Windows } from '../windows.js'
import { checkNameHeader } from './name-header.js'
import type { ByteStreamOptions } from './options.js'
import type { Outcome, Upload } from './upload.js'
import type { Uploads } from './uploads.js'
import { WriteCursor } from './write-cursor.js'
import { type WriteTarget, writeTarget } from './write-target.js'

/**
 * Receives one upload. Answers immediately if the blob exists, also if another upload commits it in the meantime. The
 * bytes of an interrupted upload are kept for a while to be resumed. Nothing is committed without finish_write.
 */
export const write =
  ({ instances, uploads, faults }: ByteStreamOptions) =>
  async (messages: Messages, rpc: ServedCall): Promise<WriteResponseInput> => {
    const first = await messages.next()
    if (first === undefined)
      throw new StatusError('INVALID_ARGUMENT', 'ByteStream.Write: the stream ended without a message')
    const { message } = first
    checkNameHeader(rpc, message.resourceName)
    const target = writeTarget(instances, message.resourceName)
    const call = inInstance(rpc, target.instanceName)
    const missing = await missingOf(target.cas, [target.digest], call)
    if (missing.length === 0) return { committedSize: earlySize(target) }
    const transfer = { target, messages, call, uploads, cursor: new WriteCursor(message) }
    try {
      return await (isAtOnce(message, target) ? writeAtOnce(transfer, first) : writeStreamed(transfer, first))
    } catch (error) {
      if (transfer.cursor.hasRestarted) faults.warn(OFFSETS_OF_ZERO, clientOf(rpc))
      throw error
    }
  }

const OFFSETS_OF_ZERO =
  'an upload was refused, because its client sends each message with write_offset 0: so does the gRPC proxy of bazel-remote, whose HTTP proxy works'

const clientOf = ({ peer, metadata, visitor }: ServedCall) => ({
  client: peer,
  agent: metadata.get('user-agent'),
  ...(visitor && { identity: visitor.identity }),
})

type Messages = RequestMessages<WriteRequest>
type Message = LentMessage<WriteRequest>

interface Transfer {
  readonly target: WriteTarget
  readonly messages: Messages
  readonly call: Call
  readonly uploads: Uploads
  readonly cursor: WriteCursor
  readonly windows?: Windows | undefined
}

/** The committed_size of a blob that already existed (REAPI: -1 if the upload is compressed). */
const earlySize = ({ compressor, digest }: WriteTarget): number => (compressor === undefined ? digest.sizeBytes : -1)

/** A larger message is moved in pieces, like a stream of messages. */
const AT_ONCE_BYTES = 64 * 1024

/**
 * Whether the first message contains the whole blob and is small or compressed. Compressed data may be large, because
 * memory for it is reserved when it is unpacked.
 */
const isAtOnce = ({ finishWrite, writeOffset, data }: WriteRequest, { compressor }: WriteTarget): boolean =>
  finishWrite && writeOffset === 0 && (compressor !== undefined || data.length <= AT_ONCE_BYTES)

/** Fast path for most blobs: one message needs no pipeline and no entry in `Uploads`. */
const writeAtOnce = async (transfer: Transfer, { message, release }: Message): Promise<WriteResponseInput> => {
  const { target, messages, call, uploads, cursor } = transfer
  cursor.accept(message)
  // Stores may keep a small buffer without a copy, so it must not be the lent one.
  const data = Buffer.from(message.data)
  release()
  const { compressor, digest } = target
  const { sizeBytes } = digest
  const windows = isDecodedAtOnce({ compressor, sizeBytes }) ? undefined : await Windows.one(call)
  const commit = target.cas.put(digest, uploaded(data, { compressor, sizeBytes, windows }), call)
  await committed(messages, commit, uploads.clock).finally(() => windows?.release())
  uploads.finished(target.cas, target.digest)
  return { committedSize: target.compressor === undefined ? target.digest.sizeBytes : data.length }
}

const writeStreamed = async (transfer: Transfer, first: Message): Promise<WriteResponseInput> => {
  const { target, call } = transfer
  const { held } = call
  const buffers = held?.ledger.kinds.uploads.reserveOrThrow(held.holder, bufferBytes(target))
  try {
    // A compressed upload cannot be resumed, so its window is free once this call ends.
    const windows = target.compressor === undefined ? undefined : await Windows.one(call)
    return await writeFed({ ...transfer, windows }, first).finally(() => windows?.release())
  } finally {
    buffers?.release()
  }
}

/** Memory that the buffers of an upload may take: bounded by the size of the blob. */
const bufferBytes = ({ digest }: WriteTarget): number =>
  Math.min(STREAMED_UPLOAD_BYTES, AT_ONCE_BYTES + digest.sizeBytes)

const writeFed = async (transfer: Transfer, first: Message): Promise<WriteResponseInput> => {
  const { target, uploads } = transfer
  const upload = await openUpload(transfer, first.message.writeOffset)
  const revoked = upload.takeOwnership()
  // Stops `feed` once the call is settled by another upload or another Write; further messages are ignored.
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

/** The upload to feed: a new one for offset 0, else the interrupted one at this offset. */
const openUpload = async ({ target, call, uploads, windows }: Transfer, offset: number): Promise<Upload> => {
  if (offset !== 0) {
    const broken = await uploads.find(target)
    const expected = broken?.receivedBytes ?? 0
    if (broken !== undefined && offset === expected) return broken.resume(call)
    const problem = `write_offset of the first message is ${offset}, expected ${expected}, the committed_size so far`
    throw new StatusError('INVALID_ARGUMENT', `ByteStream.Write: ${problem}`)
  }
  return uploads.begin(target, call, windows)
}

/** Moves messages into the upload, with backpressure, until finish_write. Then waits for the commit. */
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

// How long to wait for the half-close after the commit. Some clients half-close only after they have the answer.
const HALF_CLOSE_MS = 250

/** The client half-closed without finish_write: nothing is committed, but another Write may continue from here. */
class Unfinished extends StatusError {
  constructor(receivedBytes: number) {
    super(
      'INVALID_ARGUMENT',
      `ByteStream.Write: the stream ended after ${receivedBytes} bytes without finish_write, so nothing was committed`,
    )
  }
}

/** Whether the client stopped in the middle of the upload, on purpose or not. The upload may then be resumed. */
const isInterruption = (error: unknown): boolean =>
  error instanceof Unfinished || isStatus(error, 'CANCELLED') || isStatus(error, 'DEADLINE_EXCEEDED')
