import { Flag, FrameType } from '../../../src/server/http2/frame/frame.js'
import { frame, message, requestBlock, SETTINGS, SETTINGS_ACK, uint32 } from '../../server/http2/raw-client.js'
import type { FuzzTarget } from '../targets.js'
import { knownAs } from './differences.js'
import { sessions } from './generator.js'
import { compare } from './sessions.js'

const open = frame(FrameType.HEADERS, Flag.END_HEADERS, 1, requestBlock('/a/b'))
const whole = frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 3, requestBlock('/a/b'))
const body = frame(FrameType.DATA, Flag.END_STREAM, 1, message(Buffer.from('body')))
const ping = frame(FrameType.PING, 0, 0, Buffer.alloc(8))
const wider = frame(FrameType.WINDOW_UPDATE, 0, 1, uint32(1000))
const reset = frame(FrameType.RST_STREAM, 0, 1, uint32(8))

/** Our HTTP/2 and nghttp2's get the same frames: each step is judged alike, or the difference is in the table. */
export const http2Sessions: FuzzTarget = {
  seeds: [
    Buffer.concat([SETTINGS, SETTINGS_ACK, open, body, whole, ping]),
    Buffer.concat([SETTINGS, open, wider, SETTINGS_ACK, reset, whole]),
  ],
  generated: sessions,
  run: async (bytes) => {
    const found = await compare(bytes)
    if (found === undefined || knownAs(found) !== undefined) return
    const { step, on, ours, theirs } = found
    throw new Error(`${step} on ${on}: ours ${JSON.stringify(ours)}, nghttp2 ${JSON.stringify(theirs)}`)
  },
}
