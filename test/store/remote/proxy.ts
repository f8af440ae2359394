/** A proxy for a backend that a test can break: it cuts, delays or limits connections. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

import { portOf, type Scope } from './backend.js'

export class TcpProxy {
  readonly port: number
  readonly #backend: { port: number }
  readonly #sockets: Set<Socket>
  readonly #faults: Faults

  static async start(t: Scope, port: number): Promise<TcpProxy> {
    const to = { port }
    const sockets = new Set<Socket>()
    const faults: Faults = {
      refuses: false,
      stalled: new Set(),
      delayMs: 0,
      bytesLeft: Number.POSITIVE_INFINITY,
      laterBytes: [],
      waiting: [],
      stale: new Set(),
      recorded: undefined,
    }
    const server = createServer((client) => {
      if (faults.refuses) {
        client.resetAndDestroy()
        return
      }
      const backend = connect({ port: to.port, host: '127.0.0.1' })
      for (const socket of [client, backend]) {
        sockets.add(socket)
        socket
          .on('error', () => {})
          .once('close', () => {
            sockets.delete(socket)
            // Bytes sent before the end still arrive.
            client.destroySoon()
            backend.destroy()
          })
      }
      client.on('data', (chunk: Buffer) => {
        faults.recorded?.push(chunk)
        if (!faults.stale.has(client)) return
        cut(faults.stale)
        faults.stale.clear()
      })
      client.pipe(passing('there', faults, () => cut(sockets))).pipe(backend)
      backend.pipe(passing('back', faults, () => cut(sockets))).pipe(client)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const proxy = new TcpProxy(portOf(server.address()), to, sockets, faults)
    t.teardown(() => {
      cut(sockets)
      server.close()
    })
    return proxy
  }

  private constructor(port: number, backend: { port: number }, sockets: Set<Socket>, faults: Faults) {
    this.port = port
    this.#backend = backend
    this.#sockets = sockets
    this.#faults = faults
  }

  /** How many connections there are, both sides counted as one. */
  get connections(): number {
    return this.#sockets.size / 2
  }

  /** Where new connections go. */
  set backendPort(port: number) {
    this.#backend.port = port
  }

  /** Ends all connections now. */
  cut(): void {
    cut(this.#sockets)
  }

  /**
   * Closes all connections after this many more bytes in either direction, and again after each further number;
   * later connections are not affected.
   */
  cutAfter(bytes: number, ...again: readonly number[]): void {
    this.#faults.bytesLeft = bytes
    this.#faults.laterBytes = [...again]
  }

  /** All current connections end when one of them is used next, as if the backend had just closed them. */
  endWhenUsed(): void {
    for (const socket of this.#sockets) this.#faults.stale.add(socket)
  }

  /** Returns what clients have sent since, as Latin-1. */
  record(): () => string {
    const recorded: Buffer[] = []
    this.#faults.recorded = recorded
    return () => Buffer.concat(recorded).toString('latin1')
  }

  /** While true, refuses all connections. */
  set refuses(refuses: boolean) {
    this.#faults.refuses = refuses
    if (refuses) this.cut()
  }

  /** Delays each piece of up to 64 KiB; 0 means no delay. */
  set delayMs(delayMs: number) {
    this.#faults.delayMs = delayMs
  }

  /** While true, holds all bytes back and keeps connections open. */
  set isStalled(isStalled: boolean) {
    this.stall(...(isStalled ? (['there', 'back'] as const) : []))
  }

  /** Holds the bytes of these directions back from now on, and no others. */
  stall(...ways: readonly Way[]): void {
    const { stalled, waiting } = this.#faults
    stalled.clear()
    for (const way of ways) stalled.add(way)
    const held = waiting.splice(0)
    for (const one of held) {
      if (stalled.has(one.way)) waiting.push(one)
      else one.go()
    }
  }
}

/** From clients to the backend, or from there. */
export type Way = 'there' | 'back'

interface Faults {
  delayMs: number
  refuses: boolean
  readonly stalled: Set<Way>
  bytesLeft: number
  laterBytes: number[]
  readonly waiting: { readonly way: Way; readonly go: () => void }[]
  readonly stale: Set<Socket>
  recorded: Buffer[] | undefined
}

const passing = (way: Way, faults: Faults, end: () => void): Transform =>
  new Transform({
    transform: (chunk: Buffer, _encoding, callback) => {
      const pass = (): void => {
        if (chunk.length <= faults.bytesLeft) {
          faults.bytesLeft -= chunk.length
          callback(null, chunk)
          return
        }
        faults.bytesLeft = faults.laterBytes.shift() ?? Number.POSITIVE_INFINITY
        end()
        callback()
      }
      if (faults.stalled.has(way)) faults.waiting.push({ way, go: pass })
      // biome-ignore lint/plugin: a slow network is the fault
      else if (faults.delayMs > 0) setTimeout(pass, faults.delayMs)
      else pass()
    },
  })

/** Node never closes a socket that is reset after its end was sent. */
const cut = (sockets: ReadonlySet<Socket>): void => {
  for (const socket of sockets) {
    if (socket.writableEnded) socket.destroy()
    else socket.resetAndDestroy()
  }
}
