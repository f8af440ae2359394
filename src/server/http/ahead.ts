import type { Duplex } from 'node:stream'
import { Account } from '../../ledger/account.js'
import type { HeldFor } from '../../ledger/ledger.js'

/** Ends the head of a request (RFC 9112, 2.1). The parser refuses bare line feeds. */
const HEAD_END = Buffer.from('\r\n\r\n')
/** Of a request that Node has parsed: its objects and its head. */
const PARSED_BYTES = 4 * 1024
/** Bytes that a client may bring while its connection is paused: what was under way. */
const MAX_KEPT_BYTES = 512 * 1024

type Listener = (bytes: Buffer) => void

/**
 * What a client sends ahead of its answers (RFC 9112, 9.3.2). Node parses all that one read brings, so the first time that a
 * request comes behind another, several may be parsed. From then on the parser gets the bytes of the connection head by head,
 * and none while a request waits: the rest stays in the socket. What is parsed and kept counts in the ledger.
 */
export class Ahead {
  readonly #socket: Duplex
  readonly #hasWaiting: () => boolean
  readonly #account: Account | undefined
  #kept: Buffer[] = []
  #countedBytes = 0
  #parse: Listener | undefined

  constructor(socket: Duplex, held: HeldFor | undefined, hasWaiting: () => boolean) {
    this.#socket = socket
    this.#hasWaiting = hasWaiting
    this.#account = held && new Account(held.ledger.kinds.requests, held.holder)
  }

  /** Whether the client has sent a request ahead. */
  get isUsed(): boolean {
    return this.#parse !== undefined
  }

  /** A parsed request waits. Ends the connection if there is no memory for it. */
  waits(): void {
    this.#count(PARSED_BYTES)
    if (this.#parse === undefined) this.#interpose()
    this.#socket.pause()
  }

  /** A request that waited is answered now. */
  begun(): void {
    this.#uncount(PARSED_BYTES)
  }

  /** Goes on where it was paused, unless a request waits. Call it when a request is answered, or its body is wanted. */
  resume(): void {
    if (this.#parse === undefined || this.#hasWaiting()) return
    const kept = this.#kept
    this.#kept = []
    for (const [at, bytes] of kept.entries()) {
      this.#uncount(bytes.length)
      const rest = this.#feed(bytes)
      if (rest === undefined) continue
      this.#keep(rest, false)
      for (const later of kept.slice(at + 1)) this.#kept.push(later)
      return
    }
    if (!this.#hasWaiting()) this.#socket.resume()
  }

  /** The parser takes no more: what still comes is dropped. */
  stop(): void {
    this.#kept = []
    if (this.#parse !== undefined) this.#socket.off('data', this.#take).off('resume', this.#hold)
    this.#parse = undefined
    this.#socket.resume()
  }

  closed(): void {
    this.#kept = []
    this.#account?.give(this.#countedBytes)
    this.#countedBytes = 0
  }

  /** Before the first pause: as long as Node's parser reads from the handle of a socket, a pause stops the handle itself. */
  #interpose(): void {
    const parse = this.#socket.listeners('data')[0] as Listener | undefined
    if (parse === undefined) return
    this.#parse = parse
    // Whoever listens gets the bytes instead of the parser.
    this.#socket.on('data', this.#take).on('resume', this.#hold)
    this.#socket.off('data', parse)
  }

  /** Node lets the socket flow after each request, and whoever reads a body does. */
  readonly #hold = (): void => {
    if (this.#kept.length > 0 || this.#hasWaiting()) this.#socket.pause()
  }

  readonly #take = (bytes: Buffer): void => {
    const rest = this.#kept.length > 0 || this.#hasWaiting() ? bytes : this.#feed(bytes)
    if (rest === undefined) return
    this.#socket.pause()
    this.#keep(rest, true)
  }

  /** Returns what is left once a request waits. */
  #feed(bytes: Buffer): Buffer | undefined {
    for (let at = 0; at < bytes.length; ) {
      if (this.#parse === undefined || this.#socket.destroyed) return undefined
      if (this.#hasWaiting()) return bytes.subarray(at)
      // Node asserts that its parser gets nothing while answers that it was given wait for the client.
      if (isCongested(this.#socket)) {
        this.#socket.once('drain', () => this.resume())
        return bytes.subarray(at)
      }
      const end = bytes.indexOf(HEAD_END, at)
      const next = end < 0 ? bytes.length : end + HEAD_END.length
      this.#parse(bytes.subarray(at, next))
      at = next
    }
    return undefined
  }

  /** The owner of the bytes may overwrite them. */
  #keep(bytes: Buffer, isBorrowed: boolean): void {
    this.#kept.push(isBorrowed ? Buffer.from(bytes) : bytes)
    this.#count(bytes.length)
    if (this.#keptBytes > MAX_KEPT_BYTES) this.#socket.destroy()
  }

  get #keptBytes(): number {
    return this.#kept.reduce((sum, { length }) => sum + length, 0)
  }

  #count(sizeBytes: number): void {
    if (this.#account === undefined || this.#socket.destroyed) return
    if (this.#account.take(sizeBytes)) this.#countedBytes += sizeBytes
    else this.#socket.destroy()
  }

  #uncount(sizeBytes: number): void {
    const counted = Math.min(sizeBytes, this.#countedBytes)
    this.#account?.give(counted)
    this.#countedBytes -= counted
  }
}

const isCongested = (socket: Duplex): boolean => '_paused' in socket && socket._paused === true
