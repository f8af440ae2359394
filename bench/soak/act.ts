import type { Caller } from './caller.js'

/** Something that a client does, well or badly. Rejects when the server does not do its part. */
export interface Act {
  readonly name: string
  /** How many clients do it at a time. */
  readonly clients: number
  readonly perform: (caller: Caller, port: number) => Promise<void>
  /** The connection is gone afterwards. */
  readonly isCutting?: boolean
}
