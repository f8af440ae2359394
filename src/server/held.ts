import { Account } from '../ledger/account.js'
import type { Holder } from '../ledger/holder.js'
import type { HeldFor, Ledger } from '../ledger/ledger.js'

/** Memory that the process holds for one connection. */
export class Held implements HeldFor {
  readonly ledger: Ledger
  readonly holder: Holder
  /** Open requests and incoming messages. */
  readonly requests: Account
  /** Answers queued for the client. */
  readonly answers: Account
  /** The row of its address in the memory that threads share. */
  readonly row: number
  readonly #close: () => void

  /** `row`: given by the thread that accepted the connection, if that is another. */
  constructor(ledger: Ledger, address: string, row?: number) {
    const { holder, row: ownRow, close } = ledger.connection(address, row)
    this.ledger = ledger
    this.holder = holder
    this.row = ownRow
    this.requests = new Account(ledger.kinds.requests, holder)
    this.answers = new Account(ledger.kinds.answers, holder)
    this.#close = close
  }

  /** Call when the connection has closed. Memory of its calls counts until they have ended. */
  close(): void {
    this.#close()
  }
}
