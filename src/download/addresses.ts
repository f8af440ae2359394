import { lookup } from 'node:dns'
import { lookup as resolve } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { StatusError } from '../base/status-error.js'

/**
 * The addresses that downloads may connect to: public ones, and those that the configuration names. Everything else, such as
 * loopback, private and link-local networks, and other forms of their addresses, could be a service that trusts this machine.
 */
export class Addresses {
  readonly #allowed: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][]

  /** Addresses or networks: `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`. Throws a RangeError for other texts. */
  constructor(allowed: readonly string[] = []) {
    this.#allowed = allowed.map(networkOf)
  }

  permits(text: string): boolean {
    if (!ipaddr.isValid(text)) return false
    // Without the IPv4 address inside an IPv6 one, `::ffff:127.0.0.1` would be judged as IPv6.
    const address = ipaddr.process(text)
    if (address.range() === 'unicast') return true
    return this.#allowed.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
  }

  /** Throws PERMISSION_DENIED if the host of a URL is an address that is not permitted. Names are judged by `lookup`. */
  checkLiteral(hostname: string): void {
    const address = hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(address) !== 0 && !this.permits(address)) throw refused(address)
  }

  /**
   * Throws PERMISSION_DENIED if a name is known here and leads to an address that is not permitted. A name that is not known here
   * passes: behind a proxy, names of other networks are often known only there.
   */
  async checkName(hostname: string): Promise<void> {
    const found = await resolve(hostname.replace(/^\[(.*)\]$/, '$1'), { all: true }).catch(() => [])
    const wrong = found.find(({ address }) => !this.permits(address))
    if (wrong !== undefined) throw refused(hostname, wrong.address)
  }

  /**
   * For sockets: resolves a name, and fails with PERMISSION_DENIED unless all its addresses are permitted. The socket connects to an
   * address that was checked, so a name cannot change between check and use.
   */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const [first] = found ?? []
      const wrong = found?.find(({ address }) => !this.permits(address))
      if (error !== null) callback(error, '')
      // The socket passes it on as it is, whatever its `code`.
      else if (wrong !== undefined) callback(refused(hostname, wrong.address) as Error, '')
      else if (options.all === true) callback(null, found)
      else callback(null, first?.address ?? '', first?.family ?? 0)
    })
  }
}

/** Clients must not learn the addresses of names in this network, so the message has only what the client sent. */
const refused = (host: string, address = host): StatusError =>
  new StatusError('PERMISSION_DENIED', `${host} is no public address: downloads from it are not allowed here`, {
    cause: new Error(`${host} is ${address}, which is in none of the networks of allow_addresses`),
  })

/** Throws a RangeError for a text that is neither an address nor a network. */
export const networkOf = (text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] => {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text)
  if (ipaddr.isValid(text) && isIP(text) !== 0) {
    const address = ipaddr.parse(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  }
  throw new RangeError(`${JSON.stringify(text)} is no address or network, expected a form like 10.0.0.0/8`)
}
