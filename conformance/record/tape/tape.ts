import type { IncomingHttpHeaders } from 'node:http2'

/** How a call ended: with a status, or broken off by the client or the recorder. */
export type TapedEnd =
  | { readonly by: 'status'; readonly trailers: IncomingHttpHeaders }
  | { readonly by: 'client' | 'server' | 'recorder'; readonly resetCode: number }

export interface TapedMessage {
  readonly isRequest: boolean
  readonly ms: number
  readonly bytes: Buffer
}

/** One call as seen on the wire. Times are milliseconds since the tape began. */
export interface TapedCall {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly startMs: number
  readonly messages: TapedMessage[]
  end: TapedEnd | undefined
  endMs: number
}

/** The traffic of the proxy, in memory, up to a bound. */
export class Tape {
  readonly calls: TapedCall[] = []
  /** Why recording failed, if it did. */
  failure: string | undefined
  readonly #startMs = performance.now()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  begin(path: string, headers: IncomingHttpHeaders): TapedCall {
    const call: TapedCall = { path, headers, startMs: this.#now(), messages: [], end: undefined, endMs: 0 }
    this.calls.push(call)
    return call
  }

  add(call: TapedCall, isRequest: boolean, bytes: Buffer): void {
    this.#bytes += bytes.length
    if (this.#bytes > this.#maxBytes) {
      this.fail(`more than ${this.#maxBytes} bytes went through: record a smaller workspace, or raise --max-bytes`)
      return
    }
    const ms = this.#now()
    // A copy, because a slice would keep the transport's whole chunk alive.
    call.messages.push({ isRequest, ms, bytes: Buffer.from(bytes) })
    // Node emits trailers before the data that preceded them has been read.
    if (!isRequest && call.end !== undefined) call.endMs = ms
  }

  end(call: TapedCall, end: TapedEnd): void {
    if (call.end !== undefined) return
    call.end = end
    call.endMs = this.#now()
  }

  fail(reason: string): void {
    this.failure ??= reason
  }

  #now(): number {
    return performance.now() - this.#startMs
  }
}
