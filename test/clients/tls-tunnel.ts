import { type AddressInfo, createServer } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'
import type { Test } from 'tap'

/**
 * A port without TLS behind which there is one with it, for a client that cannot: Debian's Bazel 4.2.3 ends with "JDK provider does
 * not support ALPN protocol". Answers `host:port`.
 */
export const tlsTunnel = async (t: Test, to: ConnectionOptions): Promise<string> => {
  const server = createServer((near) => {
    const far = connect({ ...to, ALPNProtocols: ['h2'] })
    near.pipe(far).pipe(near)
    // An end is only closed: a client of a refused connection sees no more than that either.
    near.on('error', () => {}).once('close', () => far.destroy())
    far.on('error', () => {}).once('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}
