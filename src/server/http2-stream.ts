import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import { Duplex } from 'node:stream'
import type { ServerInterceptingCallInterface } from '@grpc/grpc-js'

/**
 * The HTTP/2 stream below a call. `grpc-js` keeps it in a private field: should that go away, nothing is found and its
 * own ways have to do.
 */
export const http2StreamOf = (wire: ServerInterceptingCallInterface): ServerHttp2Stream | undefined => {
  const stream: unknown = Reflect.get(wire, 'stream')
  return isHttp2Stream(stream) ? stream : undefined
}

const peers = new WeakMap<Http2Session, string>()

/** Who is at the other end: asked for once in a session, because Node hands out its socket behind a Proxy. */
export const peerOf = (wire: ServerInterceptingCallInterface, stream: ServerHttp2Stream | undefined): string => {
  const session = stream?.session
  if (session === undefined) return wire.getPeer()
  const known = peers.get(session)
  if (known !== undefined) return known
  const peer = wire.getPeer()
  peers.set(session, peer)
  return peer
}

const isHttp2Stream = (value: unknown): value is ServerHttp2Stream => value instanceof Duplex && 'rstCode' in value

/**
 * What a client still sends after its answer is read off, because some read the answer only once they have sent all.
 * One that goes on for longer than `limitMs` after everything has left is told to stop (RFC 9113, 8.1).
 */
export const boundReadOff = (stream: ServerHttp2Stream, limitMs: number): void => {
  if (stream.readableEnded || stream.destroyed) return
  const timer = setInterval(() => {
    if (stream.writableFinished) stream.close(constants.NGHTTP2_NO_ERROR)
  }, limitMs).unref()
  stream.once('close', () => clearInterval(timer))
}
