import { constants, type ServerHttp2Stream } from 'node:http2'

/**
 * The call behind a client's is over: breaks the client's off with `resetCode`, or, when that is undefined, lets what
 * was sent reach the client first and then tells it to send no more.
 */
export const closeAfter = (client: ServerHttp2Stream, resetCode: number | undefined): void => {
  if (resetCode !== undefined) {
    client.close(resetCode)
    return
  }
  // A reset overtakes trailers that still wait to be written, which happens before the next turn of the loop.
  const close = (): void => {
    setImmediate(() => client.close(constants.NGHTTP2_NO_ERROR))
  }
  client.resume()
  const isEnded = client.sentTrailers !== undefined || client.sentHeaders?.['grpc-status'] !== undefined
  if (isEnded) close()
  else client.once('wantTrailers', close)
}
