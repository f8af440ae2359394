/** A way to a backend that a test can break: connections are cut, held back or cut short as it is told. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

import { portOf, type Scope } from './backend.js'

export class TcpProxy {
  readonly port: number
  readonly #sockets: Set<Socket>
  readonly #faults: Faults

  static async start(t: Scope, port: number): Promise<TcpProxy> {
    const sockets = new Set<Socket>()
    const faults: Faults = {
      refuses: false,
      isStalled: false,
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
      const backend = connect({ port, host: '127.0.0.1' })
      for (const socket of [client, backend]) {
        sockets.add(socket)
        socket
          .on('error', () => {})
          .once('close', () => {
            sockets.delete(socket)
            // What was said before the end still arrives.
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
      client.pipe(passing(faults, () => cut(sockets))).pipe(backend)
      backend.pipe(passing(faults, () => cut(sockets))).pipe(client)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const proxy = new TcpProxy(portOf(server.address()), sockets, faults)
    t.teardown(() => {
      cut(sockets)
      server.close()
    })
    return proxy
  }

  private constructor(port: number, sockets: Set<Socket>, faults: Faults) {
    this.port = port
    this.#sockets = sockets
    this.#faults = faults
  }

  /** How many connections there are, both sides counted as one. */
  get connections(): number {
    return this.#sockets.size / 2
  }

  /** Ends all connections now. */
  cut(): void {
    cut(this.#sockets)
  }

  /**
   * Ends all connections once so many more bytes have passed, in either direction, and again after each further number given;
   * those that follow pass.
   */
  cutAfter(bytes: number, ...again: readonly number[]): void {
    this.#faults.bytesLeft = bytes
    this.#faults.laterBytes = [...again]
  }

  /** All connections that there are now end when one of them is used next, as if the backend had just closed them. */
  endWhenUsed(): void {
    for (const socket of this.#sockets) this.#faults.stale.add(socket)
  }

  /** Answers what clients have said since, as Latin-1. */
  record(): () => string {
    const recorded: Buffer[] = []
    this.#faults.recorded = recorded
    return () => Buffer.concat(recorded).toString('latin1')
  }

  /** Nobody gets through, until told otherwise. */
  set refuses(refuses: boolean) {
    this.#faults.refuses = refuses
    if (refuses) this.cut()
  }

  /** Each piece of what passes, of up to 64 KiB, waits so long; 0 is not at all. */
  set delayMs(delayMs: number) {
    this.#faults.delayMs = delayMs
  }

  /** Keeps everything back, with all connections open, until told otherwise. */
  set isStalled(isStalled: boolean) {
    this.#faults.isStalled = isStalled
    if (!isStalled) for (const go of this.#faults.waiting.splice(0)) go()
  }
}

interface Faults {
  delayMs: number
  refuses: boolean
  isStalled: boolean
  bytesLeft: number
  laterBytes: number[]
  readonly waiting: (() => void)[]
  readonly stale: Set<Socket>
  recorded: Buffer[] | undefined
}

const passing = (faults: Faults, end: () => void): Transform =>
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
      if (faults.isStalled) faults.waiting.push(pass)
      else if (faults.delayMs > 0) setTimeout(pass, faults.delayMs)
      else pass()
    },
  })

/** Node leaves a socket open for ever that is reset after its end was sent. */
const cut = (sockets: ReadonlySet<Socket>): void => {
  for (const socket of sockets) {
    if (socket.writableEnded) socket.destroy()
    else socket.resetAndDestroy()
  }
}
