import { isKey, keyBy } from '../simple/links.js'

/** Keys that only the servers of one queue can make: neither workers nor servers that only forward are trusted to end an office by a number. */
export class TermKeys {
  readonly #secret: () => string

  /** `secret`: what the servers share by their engine. */
  constructor(secret: () => string) {
    this.#secret = secret
  }

  of(epoch: number): string {
    return keyBy(this.#secret(), 'term', String(epoch))
  }

  isOf(epoch: number, termKey: string | undefined): boolean {
    return isKey(this.of(epoch), termKey)
  }
}
