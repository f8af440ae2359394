import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** The remote end of a connection. */
export interface Client {
  /** `host:port`, or `unix`. */
  readonly peer: string
  /** Verified by TLS. */
  readonly clientCertificate: X509Certificate | undefined
}

export const clientOf = (socket: Socket): Client => ({
  peer: unix.has(socket) ? UNIX_PEER : peerOf(socket),
  clientCertificate: socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined,
})

/** Sockets of a listener on a unix socket. An address that is missing does not say it: a TCP socket loses its own when it closes. */
const unix = new WeakSet<Socket>()

export const UNIX_PEER = 'unix'

export const markUnix = (socket: Socket): void => {
  unix.add(socket)
}

/** For a socket that takes over the connection of another. */
export const markLike = (original: Socket, socket: Socket): void => {
  if (unix.has(original)) unix.add(socket)
}

const peerOf = ({ remoteAddress = '', remotePort = 0, remoteFamily }: Socket): string =>
  remoteFamily === 'IPv6' ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`
