import type { ExecutionFacts } from '../../rpc/execution-facts.js'
import type { RequestRecord } from '../../rpc/request-records.js'

/** An execution of a build, as this server saw it. */
export interface OwnExecution extends ExecutionFacts {
  readonly instance: string
  /** The key of the digest of its action. */
  readonly action: string
  readonly target: string
  readonly mnemonic: string
  readonly outcome: RequestRecord['outcome']
  readonly reason: string
  readonly atMs: number
}

/** Requests of a build about actions. */
export interface OwnCounts {
  readonly hits: number
  readonly misses: number
}

/** What a server adds to the log of a build from its own knowledge. */
export interface OwnRecord {
  readonly executions?: readonly OwnExecution[]
  /** Since this process knows the build, with a name of the process: a build may go on at another. */
  readonly counts?: OwnCounts & { readonly process: string }
}

export const encodeOwn = (record: OwnRecord): Buffer => Buffer.from(JSON.stringify(record))

/** Only from a block whose checksum was right. */
export const decodeOwn = (bytes: Buffer): OwnRecord => JSON.parse(bytes.toString())
