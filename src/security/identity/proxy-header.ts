import { BlockList, isIP } from 'node:net'
import { LruCache } from '../../base/lru-cache.js'
import { StatusError } from '../../base/status-error.js'
import type { IdentityHeader } from '../../config/config.js'
import type { Caller } from '../../rpc/gate.js'
import { severalHeaders } from './credential.js'
import type { Identity } from './identity.js'

/** The peer of callers that come by a unix socket. */
const UNIX = 'unix'
const MAX_KNOWN = 10_000

/** The identity that a trusted proxy sends in a header. */
export class ProxyHeader {
  readonly #name: string
  readonly #groupsName: string | undefined
  readonly #trusted: BlockList
  readonly #trustsUnix: boolean
  readonly #known = new LruCache<Identity>(MAX_KNOWN)

  constructor({ name, groups_name, trusted }: IdentityHeader) {
    this.#name = name.toLowerCase()
    this.#groupsName = groups_name?.toLowerCase()
    this.#trusted = networksOf(trusted.filter((network) => network !== UNIX))
    this.#trustsUnix = trusted.includes(UNIX)
  }

  /** Undefined if no trusted proxy sent one. */
  identify(caller: Caller): Identity | undefined {
    const { metadata, peer } = caller
    const name = metadata.get(this.#name)
    if (typeof name !== 'string' || name === '' || !this.#trusts(peer)) return undefined
    for (const one of [this.#name, this.#groupsName ?? '']) if (caller.repeats(one)) throw severalHeaders(one)
    const groups = this.#groupsName === undefined ? '' : String(metadata.get(this.#groupsName) ?? '')
    const key = JSON.stringify([name, groups])
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const listed = groups.split(',').map((group) => group.trim())
    const identity: Identity = { kind: 'header', name, groups: listed.filter((group) => group !== '') }
    this.#known.set(key, identity, 1)
    return identity
  }

  #trusts(peer: string): boolean {
    if (peer === UNIX) return this.#trustsUnix
    const address = peer.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
    const v4 = address.replace(/^::ffff:(?=\d+\.)/i, '')
    return isIP(v4) !== 0 && this.#trusted.check(v4, isIP(v4) === 6 ? 'ipv6' : 'ipv4')
  }
}

const networksOf = (networks: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    try {
      if (prefix === undefined) list.addAddress(address, family)
      else list.addSubnet(address, Number(prefix), family)
    } catch (cause) {
      const message = `identity_header.trusted: ${JSON.stringify(network)} is not an address or address/prefix`
      throw new StatusError('INVALID_ARGUMENT', message, { cause })
    }
  }
  return list
}
