import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { Flag, FrameType, HEAD_BYTES, PREFACE } from '../../src/server/http2/frame/frame.js'

/** The bytes of one connection so far, in both directions. */
interface Tapped {
  readonly sent: Buffer[]
  readonly answered: Buffer[]
}

export interface Wiretap {
  /** The port of the proxy in front of the server. */
  readonly port: number
  /** The bytes from clients, one entry per connection. */
  sent(): Buffer[]
  /** The bytes from the server. */
  answered(): Buffer[]
}

/** A proxy for a local port that records all bytes. */
export const wiretap = async (t: Test, serverPort: number): Promise<Wiretap> => {
  const connections: Tapped[] = []
  const sockets: Socket[] = []
  const pass = (from: Socket, to: Socket, kept: Buffer[]): void => {
    sockets.push(from)
    from.on('data', (chunk: Buffer) => kept.push(chunk)).on('error', () => {})
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
  const server = createServer({ noDelay: true }, (client) => {
    const tapped: Tapped = { sent: [], answered: [] }
    connections.push(tapped)
    const behind = connect({ port: serverPort, host: '127.0.0.1', noDelay: true })
    pass(client, behind, tapped.sent)
    pass(behind, client, tapped.answered)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    port: (server.address() as AddressInfo).port,
    sent: () => connections.map(({ sent }) => Buffer.concat(sent)),
    answered: () => connections.map(({ answered }) => Buffer.concat(answered)),
  }
}

/** The complete frames of one direction, including headers. */
export const framesIn = (bytes: Buffer): Buffer[] => {
  const frames: Buffer[] = []
  const start = bytes.indexOf(PREFACE) === 0 ? PREFACE.length : 0
  for (let at = start; at + HEAD_BYTES <= bytes.length; ) {
    const end = at + HEAD_BYTES + bytes.readUIntBE(at, 3)
    if (end > bytes.length) break
    frames.push(bytes.subarray(at, end))
    at = end
  }
  return frames
}

/** A gRPC message on the wire. */
export interface WireMessage {
  readonly isCompressed: boolean
  readonly sizeBytes: number
}

/** The messages of one direction, stream by stream. */
export const messagesIn = (bytes: Buffer): WireMessage[] => {
  const bodies = new Map<number, Buffer[]>()
  for (const frame of framesIn(bytes)) {
    if (frame[3] !== FrameType.DATA) continue
    const id = frame.readUInt32BE(5)
    const padding = ((frame[4] as number) & Flag.PADDED) === 0 ? 0 : (frame[HEAD_BYTES] as number) + 1
    const start = HEAD_BYTES + (padding === 0 ? 0 : 1)
    const data = frame.subarray(start, frame.length - Math.max(0, padding - 1))
    bodies.set(id, [...(bodies.get(id) ?? []), data])
  }
  return [...bodies.values()].flatMap((parts) => {
    const messages: WireMessage[] = []
    const body = Buffer.concat(parts)
    for (let at = 0; at + 5 <= body.length; ) {
      const sizeBytes = body.readUInt32BE(at + 1)
      messages.push({ isCompressed: body[at] === 1, sizeBytes })
      at += 5 + sizeBytes
    }
    return messages
  })
}
