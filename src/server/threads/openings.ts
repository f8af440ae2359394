import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.js'
import { PREFACE } from '../http2/frame/frame.js'
import { offeredProtocols } from './client-hello.js'

/** Who gets a connection; undefined while its first bytes do not show it. */
export type Place = 'threads' | 'owner' | undefined

/** Plain HTTP/2 begins with its preface (RFC 9113, 3.4), and so does gRPC. */
export const placeOfPlain = (head: Buffer): Place => {
  const seen = Math.min(head.length, PREFACE.length)
  if (PREFACE.compare(head, 0, seen, 0, seen) !== 0) return 'owner'
  return seen === PREFACE.length ? 'threads' : undefined
}

/**
 * A client of gRPC offers HTTP/2 alone. Clients that could speak HTTP/1.1 too are build tools and browsers: they ask for what the
 * owner serves. A guess that is wrong costs time, and nothing else, because both serve every request.
 */
export const placeOverTls = (head: Buffer): Place => {
  const offered = offeredProtocols(head)
  if (offered === undefined) return undefined
  return offered.includes('h2') && !offered.includes('http/1.1') ? 'threads' : 'owner'
}

/** A hello has 300 to 2,000 bytes, and 6,000 if it resumes a session with a certificate of the client. The owner gets a longer one. */
const MAX_HEAD_BYTES = 8 * 1024
const SWEEP_MS = 1000

export interface OpeningOptions {
  readonly place: (head: Buffer) => Place
  /** How long a client may take until its bytes show where its connection belongs. */
  readonly firstBytesMs: number
  readonly clock: Clock
}

/** What becomes of a connection. */
export interface Found {
  /** `head` was read from it. */
  toThreads(head: Buffer): void
  /** What was read has been put back. */
  toOwner(): void
  /** The connection has closed before. */
  closed(): void
}

/** New connections of a listener that service threads have, until their first bytes have come. */
export class Openings {
  readonly #options: OpeningOptions
  readonly #open = new Set<Opening>()
  readonly #stopSweep: () => void
  /** Time counted by sweeps. It stands still while the process is blocked, because that is not the clients' fault. */
  #nowMs = 0
  #isStopped = false

  constructor(options: OpeningOptions) {
    this.#options = options
    const { firstBytesMs, clock } = options
    const periodMs = Math.max(1, Math.min(SWEEP_MS, firstBytesMs / 2))
    this.#stopSweep = clock.every(periodMs, () => {
      this.#nowMs += periodMs
      for (const opening of this.#open) if (this.#nowMs - opening.begunMs >= firstBytesMs) opening.destroy()
    })
  }

  begin(socket: Socket, found: Found): void {
    const opening = new Opening(socket, this.#nowMs, this.#options.place, found, () => this.#open.delete(opening))
    this.#open.add(opening)
    if (this.#isStopped) opening.destroy()
  }

  /** Closes the connections that have not said anything yet. */
  stop(): void {
    this.#isStopped = true
    this.#stopSweep()
    for (const opening of [...this.#open]) opening.destroy()
  }
}

class Opening {
  readonly begunMs: number
  readonly #socket: Socket
  readonly #place: OpeningOptions['place']
  readonly #found: Found
  readonly #over: () => void
  #head: Buffer = Buffer.alloc(0)

  constructor(socket: Socket, begunMs: number, place: OpeningOptions['place'], found: Found, over: () => void) {
    this.begunMs = begunMs
    this.#socket = socket
    this.#place = place
    this.#found = found
    this.#over = over
    socket.on('error', this.#broke).on('readable', this.#look).on('end', this.destroy).once('close', this.#close)
  }

  readonly destroy = (): void => {
    this.#socket.destroy()
  }

  /** 'close' follows. */
  readonly #broke = (): void => {}

  readonly #close = (): void => {
    this.#over()
    this.#found.closed()
  }

  readonly #look = (): void => {
    const socket = this.#socket
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read())
      this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk])
    const head = this.#head
    if (head.length === 0) return
    const place = this.#place(head) ?? (head.length >= MAX_HEAD_BYTES ? 'owner' : undefined)
    if (place === undefined) return
    socket.off('readable', this.#look).off('end', this.destroy).off('close', this.#close).off('error', this.#broke)
    this.#over()
    if (place === 'threads') {
      this.#found.toThreads(head)
      return
    }
    socket.unshift(head)
    this.#found.toOwner()
  }
}
