import { networkInterfaces } from 'node:os'

export interface Address {
  /** A name or an address without brackets; `unix:/path` for a socket of this machine, whose port is 0. */
  readonly host: string
  readonly port: number
}

const HOST_PORT = /^(?:\[(?<bracketed>[0-9a-f:.%\w]+)\]|(?<plain>[^:[\]/\s]*)):(?<port>\d{1,5})$/i
const WILDCARDS = new Set(['0.0.0.0', '::'])

const UNIX = 'unix:'
/** Of Linux, without the byte that ends it. */
const MAX_PATH_BYTES = 107

export const isUnix = (host: string): boolean => host.startsWith(UNIX)

/** The path of `unix:/path`. */
export const unixPath = (host: string): string => host.slice(UNIX.length)

/** Parses the address of a listener: like `parseAddress`, or `unix:/path`. Throws RangeError. */
export const parseListenerAddress = (text: string): Address => {
  const host = text.trim()
  if (!isUnix(host)) return parseAddress(host)
  const path = unixPath(host)
  if (!path.startsWith('/')) throw new RangeError('the path of a unix socket starts with a slash')
  const length = Buffer.byteLength(path)
  if (length > MAX_PATH_BYTES)
    throw new RangeError(`the path of a unix socket has ${length} bytes: the longest has ${MAX_PATH_BYTES}`)
  return { host, port: 0 }
}

/** As people write it. */
export const addressText = ({ host, port }: Address): string => {
  if (isUnix(host)) return host
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Parses `host:port`, `[::1]:port` or `:port`, which means all addresses of the machine. Throws RangeError. */
export const parseAddress = (text: string): Address => {
  const { bracketed, plain, port } = HOST_PORT.exec(text.trim())?.groups ?? {}
  if (port === undefined) throw new RangeError('this is no host:port')
  if (Number(port) > 65_535) throw new RangeError(`${port} is no port: the largest is 65535`)
  return { host: bracketed ?? (plain || '0.0.0.0'), port: Number(port) }
}

export interface Endpoint extends Address {
  readonly isSecure: boolean
}

/** Parses `grpc://host:port`, or `grpcs` for TLS; `http` and `https` mean the same. Throws RangeError. */
export const parseEndpoint = (uri: string): Endpoint => {
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/([^/]+)\/?$/i.exec(uri.trim()) ?? []
  const isSecure = /^(grpcs|https)$/i.test(scheme)
  if (!isSecure && !/^(grpc|http)$/i.test(scheme)) throw new RangeError('this is no grpc://host:port')
  return { ...parseAddress(rest), isSecure }
}

const isLoopback = (host: string): boolean =>
  isUnix(host) || host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)

/** Whether only processes of this machine reach a listener on `host`. */
export const isLocalOnly = isLoopback

/** Whether a listener on `host` is on this machine. */
export const isLocalHost = (host: string): boolean =>
  isLoopback(host) ||
  WILDCARDS.has(host) ||
  Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === host))

/** Whether a client that connects to `target` reaches a listener bound to `listener`. */
export const reaches = (target: Address, listener: Address): boolean => {
  if (target.port !== listener.port) return false
  if (target.host === listener.host || (isLoopback(target.host) && isLoopback(listener.host))) return true
  return WILDCARDS.has(listener.host)
    ? isLocalHost(target.host)
    : WILDCARDS.has(target.host) && isLoopback(listener.host)
}

/** Whether two listeners cannot be bound at the same time. Port 0 is a different port each time. */
export const clash = (a: Address, b: Address): boolean =>
  (isUnix(a.host) && a.host === b.host) ||
  (a.port === b.port && a.port !== 0 && (WILDCARDS.has(a.host) || WILDCARDS.has(b.host) || reaches(a, b)))
