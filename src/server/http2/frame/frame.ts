/** Frame types (RFC 9113, 6). */
export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const

/** Flags of frames; their meaning depends on the type (RFC 9113, 6). */
export const Flag = { ACK: 0x1, END_STREAM: 0x1, END_HEADERS: 0x4, PADDED: 0x8, PRIORITY: 0x20 } as const

/** Error codes of RST_STREAM and GOAWAY (RFC 9113, 7). */
export const ErrorCode = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,
} as const

export type ErrorCodeName = keyof typeof ErrorCode

/** The first bytes of a connection with prior knowledge (RFC 9113, 3.4). */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/** Size of a frame header: length, type, flags, stream (RFC 9113, 4.1). */
export const HEAD_BYTES = 9

/** The default maximum payload, and the only one that this server accepts (RFC 9113, 6.5.2). */
export const DEFAULT_FRAME_BYTES = 16_384

/** The default flow-control window of streams and connections (RFC 9113, 6.9.2). */
export const DEFAULT_WINDOW_BYTES = 65_535

export const MAX_WINDOW_BYTES = 2 ** 31 - 1

/** A protocol error that ends the connection (RFC 9113, 5.4.1). */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'

  constructor(
    readonly code: ErrorCodeName,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** A protocol error that ends one stream (RFC 9113, 5.4.2). */
export class StreamError extends Error {
  override readonly name = 'StreamError'

  constructor(
    readonly streamId: number,
    readonly code: ErrorCodeName,
    message: string,
  ) {
    super(message)
  }
}
