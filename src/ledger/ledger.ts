import { Holder } from './holder.js'
import { Kind } from './kind.js'
import { KINDS, type KindName } from './kinds.js'

const CONNECTION_SHARE = 1 / 2
const ADDRESS_SHARE = 3 / 4
const INSTANCE_SHARE = 1 / 2

/** Who holds what a call makes the process hold, and where that is counted. */
export interface HeldFor {
  readonly ledger: Ledger
  readonly holder: Holder
}

/** A connection as a holder, until it is closed. */
export interface ConnectionHolder {
  readonly holder: Holder
  close(): void
}

/**
 * All that a process holds in memory for others: bytes are reserved under a kind (`kinds.ts`) for a holder before they are
 * held. Bounds are those of the process, and a share of them for each connection, address and instance.
 */
export class Ledger {
  readonly kinds: Readonly<Record<KindName, Kind>>
  readonly #addresses = new Map<string, { readonly holder: Holder; connectionCount: number }>()
  readonly #instances = new Map<string, Holder>()

  /** `bounds` replaces those of some kinds. */
  constructor(bounds: Partial<Readonly<Record<KindName, number>>> = {}) {
    const entries = Object.entries(KINDS).map(([name, { maxBytes, rule }]) => {
      return [name, new Kind(name, { rule, maxBytes: bounds[name as KindName] ?? maxBytes })]
    })
    this.kinds = Object.fromEntries(entries)
  }

  /** One more connection of an address. */
  connection(address: string): ConnectionHolder {
    const entry = this.#addresses.get(address) ?? this.#addAddress(address)
    entry.connectionCount += 1
    let isOpen = true
    return {
      holder: new Holder(CONNECTION_SHARE, entry.holder),
      close: () => {
        if (isOpen) entry.connectionCount -= 1
        isOpen = false
        this.#forget(address)
      },
    }
  }

  instance(name: string): Holder {
    const known = this.#instances.get(name)
    if (known !== undefined) return known
    const holder = new Holder(INSTANCE_SHARE, undefined, () => this.#instances.delete(name))
    this.#instances.set(name, holder)
    return holder
  }

  #addAddress(address: string): { readonly holder: Holder; connectionCount: number } {
    const holder = new Holder(ADDRESS_SHARE, undefined, () => this.#forget(address))
    const entry = { holder, connectionCount: 0 }
    this.#addresses.set(address, entry)
    return entry
  }

  /** Calls may go on for a while after the connections of their address: their bytes count until then. */
  #forget(address: string): void {
    const entry = this.#addresses.get(address)
    if (entry !== undefined && entry.connectionCount === 0 && entry.holder.isEmpty) this.#addresses.delete(address)
  }
}
