import type { TlsOptions } from 'node:tls'
import type { Test } from 'tap'
import { listen, type TransportName } from '../../../src/server/listener.js'
import { testService } from './test-service.js'

export const transports: readonly TransportName[] = ['remexec', 'grpc-js']

/** The server for gRPC's interoperability clients: grpc.testing.TestService at a port of 127.0.0.1. */
export const serveTests = async (t: Test, transport: TransportName, tls?: TlsOptions): Promise<number> => {
  const listener = await listen({
    address: '127.0.0.1:0',
    services: [testService],
    transport,
    ...(tls === undefined ? {} : { tls }),
    compression: { sendsGzip: transport === 'remexec', accepted: ['gzip', 'deflate'] },
  })
  t.teardown(() => listener.close(0))
  return Number(listener.address.split(':').at(-1))
}
