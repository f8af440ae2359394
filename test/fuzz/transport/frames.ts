import { FrameType, HEAD_BYTES } from '../../../src/server/http2/frame/frame.js'

/** A frame as it lies in a session: the last one may be incomplete. */
export interface Frame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  /** The length that the header announces. */
  readonly length: number
  readonly payload: Buffer
  readonly bytes: Buffer
}

export const framesIn = (bytes: Buffer): Frame[] => {
  const frames: Frame[] = []
  for (let at = 0; at < bytes.length; ) {
    const rest = bytes.subarray(at)
    const head = Buffer.alloc(HEAD_BYTES)
    rest.copy(head, 0, 0, HEAD_BYTES)
    const length = head.readUIntBE(0, 3)
    const own = rest.subarray(0, HEAD_BYTES + length)
    const [type, flags] = [head[3] as number, head[4] as number]
    const streamId = head.readUInt32BE(5) & 0x7fffffff
    frames.push({ type, flags, streamId, length, payload: own.subarray(HEAD_BYTES), bytes: own })
    at += own.length
  }
  return frames
}

const names = new Map<number, string>(Object.entries(FrameType).map(([name, type]) => [type, name]))

export const nameOf = ({ type }: Frame): string => names.get(type) ?? 'unknown'
