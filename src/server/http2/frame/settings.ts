import { DEFAULT_TABLE_BYTES } from '../hpack/decoder.js'
import { ConnectionError, DEFAULT_FRAME_BYTES, DEFAULT_WINDOW_BYTES, MAX_WINDOW_BYTES } from './frame.js'

/** The settings used here (RFC 9113, 6.5.2). */
const Setting = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const

const ENTRY_BYTES = 6
const MAX_FRAME_BYTES = 2 ** 24 - 1

/** The settings of the peer. */
export interface PeerSettings {
  readonly headerTableBytes: number
  readonly initialWindowBytes: number
  readonly maxFrameBytes: number
}

export const INITIAL_SETTINGS: PeerSettings = {
  headerTableBytes: DEFAULT_TABLE_BYTES,
  initialWindowBytes: DEFAULT_WINDOW_BYTES,
  maxFrameBytes: DEFAULT_FRAME_BYTES,
}

/** The settings after a SETTINGS frame. Of repeated settings the last one counts. */
export const readSettings = (payload: Buffer, before: PeerSettings): PeerSettings => {
  if (payload.length % ENTRY_BYTES !== 0) {
    throw new ConnectionError('FRAME_SIZE_ERROR', `SETTINGS of ${payload.length} bytes, expected a multiple of six`)
  }
  let { headerTableBytes, initialWindowBytes, maxFrameBytes } = before
  for (let at = 0; at < payload.length; at += ENTRY_BYTES) {
    const id = payload.readUInt16BE(at)
    const value = payload.readUInt32BE(at + 2)
    if (id === Setting.HEADER_TABLE_SIZE) headerTableBytes = value
    else if (id === Setting.INITIAL_WINDOW_SIZE) {
      check(value <= MAX_WINDOW_BYTES, 'FLOW_CONTROL_ERROR', 'INITIAL_WINDOW_SIZE', value)
      initialWindowBytes = value
    } else if (id === Setting.MAX_FRAME_SIZE) {
      check(value >= DEFAULT_FRAME_BYTES && value <= MAX_FRAME_BYTES, 'PROTOCOL_ERROR', 'MAX_FRAME_SIZE', value)
      maxFrameBytes = value
    } else if (id === Setting.ENABLE_PUSH) check(value <= 1, 'PROTOCOL_ERROR', 'ENABLE_PUSH', value)
  }
  return { headerTableBytes, initialWindowBytes, maxFrameBytes }
}

const check = (isValid: boolean, code: 'FLOW_CONTROL_ERROR' | 'PROTOCOL_ERROR', name: string, value: number): void => {
  if (!isValid) throw new ConnectionError(code, `the setting ${name} is ${value}, which RFC 9113 does not allow`)
}

export interface LocalSettings {
  readonly maxConcurrentStreams: number
  readonly streamWindowBytes: number
  readonly maxHeaderListBytes: number
}

/** The payload of our SETTINGS frame: the values that differ from the protocol's defaults. */
export const writeSettings = (settings: LocalSettings): Buffer => {
  const entries = [
    [Setting.MAX_CONCURRENT_STREAMS, settings.maxConcurrentStreams],
    [Setting.INITIAL_WINDOW_SIZE, settings.streamWindowBytes],
    [Setting.MAX_HEADER_LIST_SIZE, settings.maxHeaderListBytes],
  ] as const
  const payload = Buffer.alloc(entries.length * ENTRY_BYTES)
  for (const [index, [id, value]] of entries.entries()) {
    payload.writeUInt16BE(id, index * ENTRY_BYTES)
    payload.writeUInt32BE(value, index * ENTRY_BYTES + 2)
  }
  return payload
}
