import { LARGE_BYTES, lendBuffer, SMALL_BYTES } from '../../base/lent-buffers.js'
import type { HeldFor } from '../../ledger/ledger.js'
import type { Reservation } from '../../ledger/reservation.js'
import { windowsOf } from '../../ledger/windows.js'
import type { Blob } from '../../stream/blob/blob.js'
import type { BlobFile } from '../../stream/blob/file.js'
import type { BlobForm } from '../../stream/blob/form.js'
import { pour } from '../../stream/blob/pour.js'
import { discard } from '../../stream/path.js'

/** Where the body of an answer goes. */
export interface BodySink {
  /** Undefined for a transport whose buffers cannot be accounted for. */
  readonly held: HeldFor | undefined
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
  /** Writes bytes to the client. They must not change until the promise resolves: once they have left. */
  write(bytes: Buffer): Promise<void>
  /**
   * Resolves with the number of bytes to read next, once the client takes some: until then nothing needs to be in memory.
   * Undefined for a connection that has one answer at a time, and does not know what its client takes.
   */
  readonly room: (() => Promise<number>) | undefined
}

/** What an answer holds while its client reads nothing: two parts of a file, or the stages of a blob. */
const AHEAD_BYTES = 2 * LARGE_BYTES

/** Sends a blob as fast as the client reads, and returns its length. Rejects if the blob fails or the client goes. */
export const sendBody = async (blob: Blob, sink: BodySink): Promise<number> => {
  const { held, signal } = sink
  const windows = await windowsOf(blob, held, signal)
  return sendTaken(blob, sink).finally(() => windows?.release())
}

const sendTaken = async (blob: Blob, sink: BodySink): Promise<number> => {
  const form = await blob.take()
  if (form.kind === 'bytes') return sendForm(form, sink)
  if (form.kind === 'file' && sink.room !== undefined) return sendWithRoom(form.file, sink, sink.room)
  const { reservation, isScarce } = await reserved(form, sink).catch(async (error: unknown) => {
    await drop(form)
    throw error
  })
  try {
    if (form.kind !== 'file') return await sendForm(form, sink)
    return await (isScarce ? sendPartByPart(form.file, sink) : sendAhead(form.file, sink))
  } finally {
    reservation?.release()
  }
}

interface Reserved {
  readonly reservation?: Reservation
  readonly isScarce: boolean
}

/** Waits for room. While half of it is taken, a file gets no more than a small part at a time, so that many readers fit. */
const reserved = async (form: BlobForm, { held, signal }: BodySink): Promise<Reserved> => {
  if (held === undefined) return { isScarce: false }
  const { answers } = held.ledger.kinds
  const isScarce = form.kind === 'file' && answers.heldBytes > answers.maxBytes / 2
  const sizeBytes = isScarce ? SMALL_BYTES : AHEAD_BYTES
  const neededBytes = form.kind === 'file' ? Math.min(sizeBytes, form.file.sizeBytes) : sizeBytes
  return { reservation: await answers.whenRoom(held.holder, neededBytes, signal), isScarce }
}

const drop = async (form: BlobForm): Promise<void> => {
  if (form.kind === 'file') await form.file.close()
  else if (form.kind === 'feed') form.feed.discard()
  else if (form.kind === 'path') discard(form.path)
}

const sendForm = async (form: BlobForm, sink: BodySink): Promise<number> => {
  let sentBytes = 0
  const take = (bytes: Buffer): Promise<void> => {
    sentBytes += bytes.length
    return sink.write(bytes)
  }
  await pour(form, take, sink.signal)
  return sentBytes
}

/** Reads a small part once the part before has left. */
const sendPartByPart = async (file: BlobFile, sink: BodySink): Promise<number> => {
  try {
    for (let at = 0; at < file.sizeBytes; ) {
      const { sizeBytes, sent } = await sendPart(file, at, SMALL_BYTES, sink)
      at += sizeBytes
      await sent
    }
    return file.sizeBytes
  } finally {
    await file.close()
  }
}

/** Reads the next part once the client has room for it, while the part before may still be on its way. */
const sendWithRoom = async (file: BlobFile, sink: BodySink, room: () => Promise<number>): Promise<number> => {
  let sending: Promise<void> = Promise.resolve()
  try {
    for (let at = 0; at < file.sizeBytes; ) {
      const roomBytes = await room()
      const { sizeBytes, sent } = await sendPart(file, at, Math.min(roomBytes, LARGE_BYTES), sink)
      at += sizeBytes
      sending = sent
    }
    // Parts leave in their order, and none after one that failed.
    await sending
    return file.sizeBytes
  } finally {
    await file.close()
  }
}

/** Reads the next part while the part before is being sent. */
const sendAhead = async (file: BlobFile, sink: BodySink): Promise<number> => {
  let sending: Promise<void> = Promise.resolve()
  try {
    for (let at = 0; at < file.sizeBytes; ) {
      const { sizeBytes, sent } = await sendPart(file, at, LARGE_BYTES, sink, sending)
      at += sizeBytes
      sending = sent
    }
    await sending
    return file.sizeBytes
  } finally {
    await file.close()
  }
}

/** Reads a part, and writes it after `before`. Its buffer is not used again if it may not have left. */
const sendPart = async (
  file: BlobFile,
  at: number,
  maxBytes: number,
  sink: BodySink,
  before?: Promise<void>,
): Promise<{ readonly sizeBytes: number; readonly sent: Promise<void> }> => {
  const buffer = lendBuffer(Math.min(maxBytes, file.sizeBytes - at))
  const sizeBytes = await file.read(buffer.bytes, at).catch((error: unknown) => {
    buffer.release()
    throw error
  })
  await before
  const sent = sink.write(buffer.bytes.subarray(0, sizeBytes)).then(() => buffer.release())
  // Awaited later; a failure in between must not be unhandled.
  sent.catch(() => {})
  return { sizeBytes, sent }
}
