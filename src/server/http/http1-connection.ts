import type { Socket } from 'node:net'
import type { PerTurn } from '../../work/per-turn.js'
import { Ahead } from './ahead.js'
import type { Http1Exchange, Http1Peer } from './http1-exchange.js'

export interface Http1Limits {
  /** How long a request's head may take, from its first byte. */
  readonly headMs: number
  /** How long a connection stays open without a request. Clients with connection pools expect about a minute. */
  readonly idleMs: number
  /** Within each of these periods, a body must bring 64 KiB, and a client must take 256 KiB. */
  readonly bodyMs: number
  /** How long the rest of a body that is not wanted is read, so that the client sees the answer. */
  readonly readOffMs: number
}

interface Waiting {
  readonly exchange: Http1Exchange
  readonly work: () => Promise<void>
}

/** One request at a time is answered; those that a client sends ahead wait in order, nearly all of them in the socket. */
export class Http1Connection {
  readonly peer: Http1Peer
  readonly #socket: Socket
  readonly #limits: Http1Limits
  readonly #ahead: Ahead
  readonly #turns: PerTurn
  #waiting: Waiting[] = []
  /** Said at the end of the connection, after the answers. */
  #lastWords: string | undefined
  #isClosed = false
  #current: Http1Exchange | undefined
  #isDraining = false
  #hasAnswered = false
  #idleMs = 0
  #headMs = 0
  /** What was read when the last answer ended. More means that a head is coming. */
  #bytesRead = 0
  #readOffMs: number | undefined

  /** `turns`: of all connections, for requests that clients sent ahead. */
  constructor(socket: Socket, peer: Http1Peer, limits: Http1Limits, turns: PerTurn) {
    this.peer = peer
    this.#socket = socket
    this.#limits = limits
    this.#turns = turns
    this.#ahead = new Ahead(socket, peer.held, () => this.#waiting.length > 0)
  }

  answer(exchange: Http1Exchange, work: () => Promise<void>): void {
    if (this.#isDraining) exchange.endConnection()
    if (this.#current === undefined) void this.#begin(exchange, work)
    else {
      this.#waiting.push({ exchange, work })
      this.#ahead.waits()
    }
  }

  /** Nothing is read any more. Ends the connection with these words after the answers to what was asked before. */
  endWith(lastWords: string): void {
    this.#lastWords = lastWords
    this.#ahead.stop()
    if (this.#current === undefined) this.#end()
  }

  /** The requests that wait are dropped: nobody would read their answers. */
  closed(): void {
    this.#isClosed = true
    const dropped = this.#waiting
    this.#waiting = []
    this.#ahead.closed()
    this.#current?.closed()
    for (const { exchange } of dropped) exchange.closed()
  }

  drain(): void {
    this.#isDraining = true
    this.#current?.endConnection()
    if (this.#current === undefined) this.#socket.destroy()
  }

  sweep(passedMs: number): void {
    const { headMs, idleMs, bodyMs, readOffMs } = this.#limits
    if (this.#readOffMs !== undefined) {
      this.#readOffMs += passedMs
      if (this.#readOffMs >= readOffMs) this.#socket.destroy()
      return
    }
    if (this.#current !== undefined) {
      this.#current.sweep(passedMs, bodyMs)
      return
    }
    const isHeadComing = !this.#hasAnswered || this.#socket.bytesRead > this.#bytesRead
    this.#headMs = isHeadComing ? this.#headMs + passedMs : 0
    this.#idleMs += passedMs
    if (this.#headMs >= headMs || this.#idleMs >= idleMs) this.#socket.destroy()
  }

  async #begin(exchange: Http1Exchange, work: () => Promise<void>): Promise<void> {
    this.#current = exchange
    this.#ahead.resume()
    await work()
    if (exchange.hasUnread && !exchange.isUndecided) await this.#readOff(exchange)
    this.#hasAnswered = true
    this.#idleMs = 0
    this.#headMs = 0
    this.#bytesRead = this.#socket.bytesRead
    // Whoever sends ahead would keep the event loop for as long as its socket takes answers.
    if (!this.#ahead.isUsed || this.#turns.take()) this.#goOn()
    else this.#turns.wait(() => this.#goOn())
  }

  #goOn(): void {
    this.#current = undefined
    if (this.#isClosed || this.#socket.destroyed) return
    const next = this.#waiting.shift()
    if (next !== undefined) {
      this.#ahead.begun()
      void this.#begin(next.exchange, next.work)
    } else if (this.#isDraining || this.#lastWords !== undefined) this.#end()
    else this.#ahead.resume()
  }

  #end(): void {
    this.#socket.end(this.#lastWords ?? '')
  }

  /** Node reads and drops the rest of the body. A client that reads no answer before it has sent everything sees it then. */
  async #readOff(exchange: Http1Exchange): Promise<void> {
    this.#readOffMs = 0
    await exchange.readOff()
    this.#readOffMs = undefined
  }
}
