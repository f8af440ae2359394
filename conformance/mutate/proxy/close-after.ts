import { constants, type ServerHttp2Stream } from 'node:http2'

/**
 * The upstream call has ended: resets the client's call with `resetCode`. Without a code, sent data reaches the client
 * first, then the client is told to stop sending.
 */
export const closeAfter = (client: ServerHttp2Stream, resetCode: number | undefined): void => {
  if (resetCode !== undefined) {
    client.close(resetCode)
    return
  }
  // A reset overtakes trailers that are not written yet; they are written before the next turn of the event loop.
  const close = (): void => {
    setImmediate(() => client.close(constants.NGHTTP2_NO_ERROR))
  }
  client.resume()
  const isEnded = client.sentTrailers !== undefined || client.sentHeaders?.['grpc-status'] !== undefined
  if (isEnded) close()
  else client.once('wantTrailers', close)
}
