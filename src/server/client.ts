import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** The remote end of a connection. */
export interface Client {
  /** `host:port`. */
  readonly peer: string
  /** Verified by TLS. */
  readonly clientCertificate: X509Certificate | undefined
}

export const clientOf = (socket: Socket): Client => ({
  peer: peerOf(socket),
  clientCertificate: socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined,
})

const peerOf = ({ remoteAddress = '', remotePort = 0, remoteFamily }: Socket): string =>
  remoteFamily === 'IPv6' ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`
