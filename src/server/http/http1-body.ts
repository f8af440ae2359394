import type { IncomingMessage } from 'node:http'
import { notePassed } from '../../base/passing-buffers.js'
import { StatusError } from '../../base/status-error.js'
import { BlobFeed, type FeedTaker } from '../../stream/blob/feed.js'

/** The client must send this much in each period while its bytes are awaited. */
const MIN_BYTES_PER_PERIOD = 64 * 1024

/**
 * The body of a request over HTTP/1. Nothing is read before `into`, which lets the client begin. The parser has checked
 * the length: a body that ends too early closes the connection, and what follows a body is the next request.
 */
export class Http1Body extends BlobFeed {
  readonly #request: IncomingMessage
  readonly #begin: () => void
  #fail: ((error: Error) => void) | undefined
  #isAwaited = false
  #receivedBytes = 0
  #seenBytes = 0
  #periodMs = 0

  constructor(request: IncomingMessage, begin: () => void) {
    super()
    this.#request = request
    this.#begin = begin
  }

  protected move(taker: FeedTaker): Promise<void> {
    const request = this.#request
    this.#begin()
    if (request.complete && request.readableLength === 0) return Promise.resolve()
    this.#isAwaited = true
    return new Promise<void>((resolve, reject) => {
      const settle = (error?: Error): void => {
        this.#isAwaited = false
        this.#fail = undefined
        request.off('data', take).off('end', ended).off('close', cut).off('error', cut).pause()
        if (error === undefined) resolve()
        else reject(error)
      }
      let isWorking = false
      let isEnded = false
      const goOn = (): void => {
        isWorking = false
        this.#isAwaited = true
        if (isEnded) settle()
        else if (this.#fail !== undefined) request.resume()
      }
      const take = (bytes: Buffer): void => {
        this.#receivedBytes += bytes.length
        notePassed(bytes.length)
        const taken = taker(bytes)
        if (taken === undefined) return
        this.#isAwaited = false
        isWorking = true
        request.pause()
        taken.then(goOn, settle)
      }
      // The last bytes may still be with the taker.
      const ended = (): void => {
        isEnded = true
        if (!isWorking) settle()
      }
      const cut = (): void => {
        if (!isEnded) settle(new StatusError('CANCELLED', 'the client went before its body was complete'))
      }
      this.#fail = settle
      if (request.readableEnded) ended()
      else if (request.destroyed) cut()
      else request.on('data', take).once('end', ended).once('close', cut).on('error', cut).resume()
    })
  }

  discard(): void {
    this.#fail?.(new StatusError('CANCELLED', 'the body is no longer wanted'))
  }

  /** Fails the body of a client that is too slow. Called with the time since the last call. */
  sweep(passedMs: number, periodMs: number): void {
    if (!this.#isAwaited) {
      this.#periodMs = 0
      this.#seenBytes = this.#receivedBytes
      return
    }
    this.#periodMs += passedMs
    if (this.#periodMs < periodMs) return
    const bytes = this.#receivedBytes - this.#seenBytes
    this.#seenBytes = this.#receivedBytes
    this.#periodMs = 0
    if (bytes >= MIN_BYTES_PER_PERIOD) return
    const found = `the body came too slowly: ${bytes} bytes in ${periodMs / 1000} s`
    this.#fail?.(new StatusError('DEADLINE_EXCEEDED', `${found}, expected at least ${MIN_BYTES_PER_PERIOD}`))
  }
}
