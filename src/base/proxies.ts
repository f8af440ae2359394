import { BlockList, isIP } from 'node:net'
import { StatusError } from './status-error.js'

type Environment = Readonly<Record<string, string | undefined>>

/** Where a connection leads: `hostname` may be an address of IPv6 in brackets. */
export interface Destination {
  readonly protocol: 'http:' | 'https:'
  readonly hostname: string
  readonly port: number
}

export const destinationOf = ({ protocol, hostname, port }: URL): Destination =>
  protocol === 'http:'
    ? { protocol, hostname, port: Number(port || 80) }
    : { protocol: 'https:', hostname, port: Number(port || 443) }

/** The variables that name a proxy. Those in lower case go before. */
export const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const

/**
 * The proxy for a connection by HTTPS_PROXY, HTTP_PROXY and NO_PROXY; undefined for a direct one. This machine itself is
 * always reached directly. INVALID_ARGUMENT for a proxy that is no URL.
 */
export const proxyOf = (to: Destination, env: Environment = process.env): URL | undefined => {
  const names = PROXY_VARIABLES.filter(
    (name) => name.toLowerCase() === (to.protocol === 'https:' ? 'https_proxy' : 'http_proxy'),
  )
  const name = names.find((one) => (env[one] ?? '') !== '')
  if (name === undefined) return undefined
  const host = to.hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
  if (isThisMachine(host) || exceptionsOf(env).some((entry) => matches(entry, host, to.port))) return undefined
  return readProxy(name, env[name] ?? '')
}

/** INVALID_ARGUMENT unless every variable that is set is the URL of a proxy. */
export const checkProxies = (env: Environment): void => {
  for (const name of PROXY_VARIABLES) if ((env[name] ?? '') !== '') readProxy(name, env[name] ?? '')
}

/** The entries of NO_PROXY. */
export const exceptionsOf = (env: Environment): readonly string[] =>
  (env['no_proxy'] || env['NO_PROXY'] || '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')

/** For messages: without user and password. */
export const shownProxy = ({ protocol, host }: URL): string => `${protocol}//${host}`

/** `user:password` of a proxy; undefined without them. */
export const proxyCredentials = ({ username, password }: URL): string | undefined =>
  username === '' && password === '' ? undefined : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`

const readProxy = (name: string, text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) return url
  throw new StatusError('INVALID_ARGUMENT', `the variable ${name} is no URL of a proxy: expected http://host:port`)
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

const isThisMachine = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && LOOPBACK.check(host, familyOf(host)))

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** `*`, a host with all hosts below it (`.corp`, `*.corp` and `corp` are the same), an address, a network; the port may follow. */
const matches = (entry: string, host: string, port: number): boolean => {
  if (entry === '*') return true
  const [, address = '', bits] = /^\[?([\da-f.:]+)\]?(?:\/(\d+))?$/.exec(entry) ?? []
  if (isIP(address) !== 0) return isIP(host) !== 0 && isInNetwork(address, bits, host)
  const [, name = entry, ofPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? []
  if (ofPort !== undefined && Number(ofPort) !== port) return false
  const bare = name.replace(/^\*?\./, '').replace(/^\[(.*)\]$/, '$1')
  return host === bare || host.endsWith(`.${bare}`)
}

const isInNetwork = (network: string, bits: string | undefined, address: string): boolean => {
  const family = familyOf(network)
  const most = family === 'ipv4' ? 32 : 128
  if (bits !== undefined && Number(bits) > most) return false
  const list = new BlockList()
  list.addSubnet(network, Number(bits ?? most), family)
  return list.check(address, familyOf(address))
}
