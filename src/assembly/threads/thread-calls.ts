import type { Code, ErrorDetail } from '../../base/status-error.js'
import type { FinishedFile } from '../../blobs/store.js'
import { whyOwned } from '../../config/carried.js'
import type { Config, GlobalOptions, ServerConfig } from '../../config/config.js'
import type { ParentResults } from '../../config/parents.js'
import type { MetricChanges } from '../../metrics/relayed.js'
import { Digest, type DigestMessage } from '../../reapi/digest.js'
import { functionsByValue } from '../../reapi/digest-function.js'
import type { PackedRecords } from '../../rpc/packed-records.js'
import type { AuditEntry } from '../../security/audit-log.js'
import type { Verified } from '../../security/identity/verified-credentials.js'
import type { GateShare, ServedNames, VerifiedKind } from '../../security/thread-gate.js'
import type { GivenPart } from '../../service/bytestream/kept-parts.js'
import type { ThreadNode, ThreadUse } from '../../store/contract/thread-use.js'

/** What service threads serve themselves: blobs and results of these servers, whose connections they have, in these stores. */
export interface ThreadCalls {
  /** The named stores that each thread makes. */
  readonly stores: ReadonlyMap<string, ThreadNode>
  readonly servers: readonly ServerConfig[]
}

export const threadCallsOf = (
  config: Config,
  uses: ReadonlyMap<string, ThreadUse>,
  { isTraced }: { readonly isTraced: boolean },
): ThreadCalls => {
  const stores = new Map([...uses].flatMap(([name, use]) => (use.isOneEach ? [[name, use.node] as const] : [])))
  // Spans are made by the owner only.
  const isServed = (server: ServerConfig): boolean => !isTraced && whyOwned(server, config, uses) === undefined
  return { stores, servers: config.servers.filter(isServed) }
}

/** Tells a thread what it serves itself. */
export interface ServeMessage {
  readonly kind: 'serve'
  readonly global: GlobalOptions
  readonly instances: Config['instances']
  /** Of each instance that has some; any server may have their results. */
  readonly parents: ReadonlyMap<string, readonly ParentResults[]>
  readonly stores: ThreadCalls['stores']
  readonly servers: readonly {
    readonly number: number
    readonly server: ServerConfig
    /** All services of the server, also those that are carried to the owner. */
    readonly served: ServedNames
  }[]
  /** Absent without access control. */
  readonly gate: GateShare | undefined
  /** What the file stores share, by path. */
  readonly shares: ReadonlyMap<string, unknown>
}

/** A thread serves what `ServeMessage` said. */
export const SERVED = 'served'

/** Other rules of access, or other tokens. */
export interface GateMessage {
  readonly kind: 'gate'
  readonly gate: GateShare
}

/** The owner has checked the credential of a caller. */
export interface VerifiedMessage {
  readonly kind: 'verified'
  readonly by: VerifiedKind
  readonly verified: Verified
}

/** The numbers by which the owner knows builds. */
export interface NumbersMessage {
  readonly kind: 'numbers'
  readonly numbers: readonly (readonly [invocation: string, number: number])[]
}

/** A file of records of a store is deleted. */
export interface RetiredMessage {
  readonly kind: 'retired'
  readonly path: string
  readonly number: number
}

/** Answers to questions, all of one turn. */
export interface AnswersMessage {
  readonly kind: 'answers'
  readonly answers: readonly Answer[]
}

export interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly failure?: Failure
}

/** An error as it is sent. */
export interface Failure {
  readonly code: Code
  readonly message: string
  readonly details: readonly ErrorDetail[]
}

export type ToServingThread =
  | ServeMessage
  | GateMessage
  | VerifiedMessage
  | NumbersMessage
  | AnswersMessage
  | RetiredMessage

/** What happened in a thread, all of one turn. */
export interface ReportMessage {
  readonly kind: 'report'
  readonly uses: readonly (readonly [path: string, slots: Int32Array])[]
  readonly claims: readonly (readonly [path: string, invocation: string, keepForMs: number, slots: Int32Array])[]
  /** Builds with calls. */
  readonly touched: readonly string[]
  /** Requests about actions of builds since the last report, in the order of OUTCOMES. */
  readonly counted: readonly (readonly [invocation: string, counts: readonly number[]])[]
  /** What became of requests about actions. */
  readonly records: PackedRecords | undefined
  /** What was asked of the gates. */
  readonly audited: readonly AuditEntry[]
  readonly questions: readonly (readonly [id: number, question: Question])[]
}

/** What only the owner can do, and answers. */
export type Question =
  | CommitQuestion
  | CommitSmallQuestion
  | DamagedQuestion
  | { readonly about: 'keep_part'; readonly part: GivenPart }
  | { readonly about: 'size_of_part'; readonly name: string }
  | { readonly about: 'take_part'; readonly name: string }

export interface CommitQuestion {
  readonly about: 'commit'
  readonly path: string
  readonly digest: SentDigest
  readonly file: FinishedFile
  readonly invocation: string | undefined
  readonly keepForMs: number | undefined
}

/** The answer is a list of `RefusedBlob`; undefined if there is none. */
export interface CommitSmallQuestion {
  readonly about: 'commit_small'
  readonly path: string
  /** All small blobs of one turn that a store gets with the same claims. */
  readonly packed: Uint8Array<ArrayBuffer>
  readonly invocation: string | undefined
  readonly keepForMs: number | undefined
}

/** One of several small blobs was not stored. */
export interface RefusedBlob {
  /** Its place among them. */
  readonly at: number
  readonly failure: Failure
}

export interface DamagedQuestion {
  readonly about: 'damaged'
  readonly path: string
  readonly digest: SentDigest
  readonly slot: number
  readonly location: number
  readonly why: 'gone' | 'damaged'
}

/** A digest as clients know it, and the isolated instance that it is a key of, if any. */
export interface SentDigest extends DigestMessage {
  readonly instanceName: string | undefined
  readonly digestFunction: number
  readonly describesContent: boolean
}

export const sentDigest = ({ content, describesContent, instanceName }: Digest): SentDigest => ({
  hash: content.hash,
  sizeBytes: content.sizeBytes,
  digestFunction: content.function.value,
  ...{ describesContent, instanceName },
})

export const digestOf = (sent: SentDigest): Digest => {
  const digestFunction = functionsByValue.get(sent.digestFunction)
  if (digestFunction === undefined) throw new Error('a thread sent a digest of an unknown function')
  const { describesContent, instanceName } = sent
  const content = Digest.parse(sent, digestFunction)
  const digest = describesContent ? content : content.asKey()
  return instanceName === undefined ? digest : digest.isolatedFor(instanceName)
}

export interface MetricsMessage {
  readonly kind: 'metrics'
  readonly changes: MetricChanges | undefined
  readonly extensionCount: number
}

export type FromServingThread = ReportMessage | MetricsMessage
