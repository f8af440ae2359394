import { clientOf, UNIX_PEER } from '../client.js'
import { Handshakes, type SocketOptions, type SocketServer, socketServer } from '../sockets.js'
import type { RemexecTransport } from '../transport/transport.js'
import { Openings, placeOfPlain, placeOverTls } from './openings.js'
import type { ThreadedListener } from './service-threads.js'

/**
 * The sockets of a listener that service threads serve gRPC for. The owner keeps the connections that do not look like gRPC, because
 * whatever else it serves would be carried to it.
 */
export const threadedServer = (
  threaded: ThreadedListener,
  options: SocketOptions,
  transport: RemexecTransport,
): SocketServer => {
  const { isUnix, tls, handshakeMs: firstBytesMs, clock } = options
  const handshakes = tls && new Handshakes(tls, options, (socket) => void transport.accept(socket, () => {}))
  const openings = new Openings({ place: tls === undefined ? placeOfPlain : placeOverTls, firstBytesMs, clock })
  const sockets = socketServer({ ...options, tls: undefined }, (socket, closed) => {
    const { peer } = clientOf(socket)
    const address = isUnix ? UNIX_PEER : (socket.remoteAddress ?? '')
    openings.begin(socket, {
      toThreads: (head) => threaded.handOver(socket, { transport, peer, address, isUnix, head }, closed),
      toOwner: () => {
        if (handshakes === undefined) transport.accept(socket, closed)
        else handshakes.begin(socket.once('close', closed))
      },
      closed,
    })
  })
  return {
    server: sockets.server,
    renewTls: (renewed) => {
      handshakes?.renew(renewed)
      threaded.renewTls(renewed)
    },
    stop: () => {
      sockets.stop()
      openings.stop()
    },
  }
}
