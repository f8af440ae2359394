import { Holder, SharedHolder } from './holder.js'
import { Kind } from './kind.js'
import { KINDS, type KindName } from './kinds.js'
import { AddressRows, SharedLedgerMemory } from './totals.js'

const CONNECTION_SHARE = 1 / 2
const ADDRESS_SHARE = 3 / 4
const INSTANCE_SHARE = 1 / 2
const ATTEMPT_SHARE = 1 / 16

/** The holder of the memory of a call, and the ledger that counts it. */
export interface HeldFor {
  readonly ledger: Ledger
  readonly holder: Holder
}

/** The holder of a connection, until it is closed. */
export interface ConnectionHolder {
  readonly holder: Holder
  /** The row of its address in the memory that threads share; 0 without. */
  readonly row: number
  close(): void
}

interface Address {
  readonly holder: Holder
  readonly row: number
  connectionCount: number
}

/** Several threads have ledgers. Without a `buffer` this is the first of them, and its thread accepts all connections. */
export interface LedgerThreads {
  readonly buffer?: SharedArrayBuffer
}

/**
 * Counts all memory that the process holds for clients. Bytes are reserved under a kind (`kinds.ts`) for a holder
 * before they are allocated. Bounds apply to the process; connections, addresses and instances get a share of them.
 */
export class Ledger {
  readonly kinds: Readonly<Record<KindName, Kind>>
  readonly #addresses = new Map<string, Address>()
  readonly #instances = new Map<string, Holder>()
  readonly #memory: SharedLedgerMemory | undefined
  /** Of the thread that accepts connections. */
  readonly #rows: AddressRows | undefined

  /** `bounds` replaces the bounds of some kinds. `threads`: the process has ledgers on several threads. */
  constructor(bounds: Partial<Readonly<Record<KindName, number>>> = {}, threads?: LedgerThreads) {
    const kindCount = Object.keys(KINDS).length
    this.#memory = threads && new SharedLedgerMemory(kindCount, threads.buffer)
    this.#rows = this.#memory && threads?.buffer === undefined ? new AddressRows(this.#memory) : undefined
    const entries = Object.entries(KINDS).map(([name, { maxBytes, rule }], number) => {
      const facts = { rule, maxBytes: bounds[name as KindName] ?? maxBytes }
      return [name, new Kind(name, number, facts, this.#memory?.totalOf(number))]
    })
    this.kinds = Object.fromEntries(entries)
  }

  /** The memory that the ledgers of further threads count in, if this one was made for threads. */
  get buffer(): SharedArrayBuffer | undefined {
    return this.#memory?.buffer
  }

  /** Registers a connection from an address. `row` is that of the address in the ledger of the thread that accepted it. */
  connection(address: string, row?: number): ConnectionHolder {
    const entry = this.#addresses.get(address) ?? this.#addAddress(address, row)
    entry.connectionCount += 1
    let isOpen = true
    return {
      holder: new Holder(CONNECTION_SHARE, entry.holder),
      row: entry.row,
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

  /** One attempt of a worker to run an action. */
  attempt(): Holder {
    return new Holder(ATTEMPT_SHARE)
  }

  #addAddress(address: string, givenRow?: number): Address {
    const row = givenRow ?? this.#rows?.take() ?? 0
    const onEmpty = (): void => this.#forget(address)
    const holder =
      this.#memory === undefined
        ? new Holder(ADDRESS_SHARE, undefined, onEmpty)
        : new SharedHolder(ADDRESS_SHARE, this.#memory, row, onEmpty)
    const entry = { holder, row, connectionCount: 0 }
    this.#addresses.set(address, entry)
    return entry
  }

  /** Calls may outlive the connections of their address. Their bytes count until they end. */
  #forget(address: string): void {
    const entry = this.#addresses.get(address)
    if (entry === undefined || entry.connectionCount > 0 || !entry.holder.isEmpty) return
    this.#addresses.delete(address)
    this.#rows?.give(entry.row)
  }
}
