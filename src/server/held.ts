import { Account } from '../ledger/account.js'
import type { Holder } from '../ledger/holder.js'
import type { HeldFor, Ledger } from '../ledger/ledger.js'

/** What the process holds for one connection. */
export class Held implements HeldFor {
  readonly ledger: Ledger
  readonly holder: Holder
  /** Open requests and the messages that come in. */
  readonly requests: Account
  /** Answers that wait for the client. */
  readonly answers: Account
  readonly #close: () => void

  constructor(ledger: Ledger, address: string) {
    const { holder, close } = ledger.connection(address)
    this.ledger = ledger
    this.holder = holder
    this.requests = new Account(ledger.kinds.requests, holder)
    this.answers = new Account(ledger.kinds.answers, holder)
    this.#close = close
  }

  /** The connection is closed. What its calls hold counts until they have ended. */
  close(): void {
    this.#close()
  }
}
