import { proxyCredentials, proxyOf, shownProxy } from '../base/proxies.js'
import { StatusError } from '../base/status-error.js'

/** What a client of grpc-js connects to, and with which channel options. */
export interface GrpcWay {
  readonly target: string
  readonly options: Readonly<Record<string, string | number>>
}

/**
 * The way to `target` (`host:port`, or `unix:/path`): through the proxy of HTTPS_PROXY by CONNECT, with and without TLS, as
 * other implementations of gRPC do. grpc-js itself would read only the names in lower case, and fewer forms of NO_PROXY.
 */
export const grpcWay = (target: string): GrpcWay => {
  const direct = { 'grpc.enable_http_proxy': 0 }
  const proxy = proxyFor(target)
  if (proxy === undefined) return { target, options: direct }
  if (proxy.protocol !== 'http:') {
    const message = `gRPC cannot use the proxy ${shownProxy(proxy)}: expected one with http://, or the host of ${target} in NO_PROXY`
    throw new StatusError('FAILED_PRECONDITION', message)
  }
  const credentials = proxyCredentials(proxy)
  return {
    target: `dns:${proxy.hostname}:${proxy.port || 80}`,
    options: {
      ...direct,
      'grpc.http_connect_target': `dns:${target}`,
      'grpc.default_authority': target,
      ...(credentials !== undefined && { 'grpc.http_connect_creds': credentials }),
    },
  }
}

/** For messages: the server, and the proxy in front of it. */
export const shownWay = (target: string): string => {
  const proxy = proxyFor(target)
  return proxy === undefined ? target : `${target} through the proxy ${shownProxy(proxy)}`
}

const proxyFor = (target: string): URL | undefined => {
  const [, hostname = '', port = ''] = /^([^/]+):(\d+)$/.exec(target) ?? []
  return hostname === '' ? undefined : proxyOf({ protocol: 'https:', hostname, port: Number(port) })
}
