import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

const PREFACE_BYTES = 24
const FRAME_HEADER_BYTES = 9
const HEADERS = 1

/** Counts the HEADERS frames in what an HTTP/2 client sends. */
class RequestCounter {
  #left = PREFACE_BYTES
  #header = Buffer.alloc(0)

  take(chunk: Buffer): number {
    let requests = 0
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, chunk.length - at)
        this.#left -= skipped
        at += skipped
        continue
      }
      const more = chunk.subarray(at, at + FRAME_HEADER_BYTES - this.#header.length)
      this.#header = Buffer.concat([this.#header, more])
      at += more.length
      if (this.#header.length < FRAME_HEADER_BYTES) break
      this.#left = this.#header.readUIntBE(0, 3)
      if (this.#header[3] === HEADERS) requests++
      this.#header = Buffer.alloc(0)
    }
    return requests
  }
}

export interface Relay {
  readonly port: number
  /** Requests so far that were sent after an answer to earlier ones: each of them waited for a round trip. */
  readonly roundTrips: number
}

/** A port of this machine that leads to another one as over a long line: what the client sends arrives so much later. */
export const startRelay = async (t: Test, port: number, delayMs: number): Promise<Relay> => {
  let roundTrips = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    const requests = new RequestCounter()
    let hasAnswered = true
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (chunk: Buffer) => {
      if (requests.take(chunk) > 0 && hasAnswered) {
        roundTrips++
        hasAnswered = false
      }
      // biome-ignore lint/plugin: the delay is what this relay is for.
      setTimeout(() => upstream.writable && upstream.write(chunk), delayMs)
    })
    upstream.on('data', (chunk: Buffer) => {
      hasAnswered = true
      client.write(chunk)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    get roundTrips() {
      return roundTrips
    },
  }
}
