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
  /** The gRPC code a working server ends the call with. Default 0. */
  readonly code?: number
}

export interface LoadResult {
  readonly seconds: number
  readonly requests: number
  /** From sending a request to the end of its answer, in no particular order. Empty where that is not asked. */
  readonly latenciesMs: readonly number[]
  /** Of work in a process that is neither a measured server nor the bench. */
  readonly cpuMicros?: number
}

/** The gRPC form of a message: flag, length, bytes. */
export const framed = (message: Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

export const unframed = (bytes: Buffer): Buffer[] => {
  const messages: Buffer[] = []
  for (let at = 0; at + 5 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1)
    messages.push(bytes.subarray(at + 5, at + 5 + length))
    at += 5 + length
  }
  return messages
}
