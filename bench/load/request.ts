/** One gRPC call as the bytes a client sends. */
export interface Request {
  /** `/package.Service/Method`. */
  readonly path: string
  /** Encoded, in the order they are sent. */
  readonly messages: readonly Buffer[]
  /**
   * Tells the bare server which answer to give, since it knows no blobs: it travels as the header `x-bench-shape`, to
   * every server alike.
   */
  readonly shape?: string
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** The gRPC code a working server ends the call with. Default 0. */
  readonly code?: number
}

export interface LoadResult {
  readonly seconds: number
  readonly requests: number
  /** From sending a request to the end of its answer, in no particular order. Empty where that is not asked. */
  readonly latenciesMs: readonly number[]
  /** Of messages with their gRPC frames, for one request, on average. */
  readonly wireBytes?: { readonly sent: number; readonly received: number } | undefined
  /** Of work in a process that is neither a measured server nor the bench. */
  readonly cpuMicros?: number
}

const FRAME_HEAD_BYTES = 5

/** The gRPC form of a message: flag, length, bytes. */
export const framed = (message: Buffer): Buffer => {
  const head = Buffer.alloc(FRAME_HEAD_BYTES)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** Of all messages with their frames. */
export const sentBytes = (requests: readonly Request[]): number =>
  requests.reduce(
    (sum, { messages }) => sum + messages.reduce((bytes, { length }) => bytes + FRAME_HEAD_BYTES + length, 0),
    0,
  )

export const unframed = (bytes: Buffer): Buffer[] => {
  const messages: Buffer[] = []
  for (let at = 0; at + FRAME_HEAD_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1)
    at += FRAME_HEAD_BYTES
    messages.push(bytes.subarray(at, at + length))
    at += length
  }
  return messages
}
