import type { Output } from '../output.js'
import { ConnectionError, ErrorCode, type ErrorCodeName, Flag, FrameType, StreamError } from './frame.js'

/** Writes the frames that are not part of a request or response (RFC 9113, 6). */
export class ControlFrames {
  readonly #output: Output

  constructor(output: Output) {
    this.#output = output
  }

  settings(payload: Buffer): void {
    this.#frame(FrameType.SETTINGS, 0, 0, payload)
  }

  settingsAck(): void {
    this.#output.head(0, FrameType.SETTINGS, Flag.ACK, 0)
  }

  ping(payload: Buffer): void {
    this.#frame(FrameType.PING, 0, 0, payload)
  }

  pingAck(payload: Buffer): void {
    this.#frame(FrameType.PING, Flag.ACK, 0, payload)
  }

  windowUpdate(streamId: number, sizeBytes: number): void {
    this.#output.head(4, FrameType.WINDOW_UPDATE, 0, streamId)
    this.#output.uint32(sizeBytes)
  }

  reset(streamId: number, code: ErrorCodeName): void {
    this.#output.head(4, FrameType.RST_STREAM, 0, streamId)
    this.#output.uint32(ErrorCode[code])
  }

  goAway(lastId: number, code: ErrorCodeName, reason = ''): void {
    const text = Buffer.from(reason)
    this.#output.head(8 + text.length, FrameType.GOAWAY, 0, 0)
    this.#output.uint32(lastId)
    this.#output.uint32(ErrorCode[code])
    this.#output.bytes(text)
  }

  #frame(type: number, flags: number, streamId: number, payload: Buffer): void {
    this.#output.head(payload.length, type, flags, streamId)
    this.#output.bytes(payload)
  }
}

/** The increment of a WINDOW_UPDATE; may be 0 (RFC 9113, 6.9). */
export const windowIncrement = (payload: Buffer): number => {
  expectBytes('WINDOW_UPDATE', payload, 4)
  return payload.readUInt32BE(0) & 0x7fffffff
}

/** Throws if a PRIORITY frame is malformed. A valid one is ignored (RFC 9113, 5.3.2 and 6.3). */
export const checkPriority = (streamId: number, payload: Buffer): void => {
  if (streamId === 0) throw new ConnectionError('PROTOCOL_ERROR', 'PRIORITY on stream 0')
  if (payload.length !== 5) throw new StreamError(streamId, 'FRAME_SIZE_ERROR', 'PRIORITY is not five bytes long')
  if ((payload.readUInt32BE(0) & 0x7fffffff) !== streamId) return
  throw new StreamError(streamId, 'PROTOCOL_ERROR', 'a stream depends on itself')
}

const GOAWAY_BYTES = 8

/** Throws if a GOAWAY frame is malformed. A valid one is ignored: its client ends the connection (RFC 9113, 6.8). */
export const checkGoAway = (streamId: number, payload: Buffer): void => {
  expectNoStream('GOAWAY', streamId)
  if (payload.length >= GOAWAY_BYTES) return
  throw new ConnectionError('FRAME_SIZE_ERROR', `GOAWAY of ${payload.length} bytes, expected at least ${GOAWAY_BYTES}`)
}

/** Throws if a frame for the whole connection names a stream. */
export const expectNoStream = (frame: string, streamId: number): void => {
  if (streamId !== 0) throw new ConnectionError('PROTOCOL_ERROR', `${frame} on a stream`)
}

export const expectBytes = (frame: string, payload: Buffer, sizeBytes: number): void => {
  if (payload.length === sizeBytes) return
  throw new ConnectionError('FRAME_SIZE_ERROR', `${frame} of ${payload.length} bytes, expected ${sizeBytes}`)
}
