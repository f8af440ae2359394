import type { FinishedFile } from '../../blobs/store.js'
import { whyOwned } from '../../config/carried.js'
import type { Config, GlobalOptions, ServerConfig } from '../../config/config.js'
import type { ParentResults } from '../../config/parents.js'
import type { LogFields, LogLevel } from '../../log/log.js'
import type { MetricChanges } from '../../metrics/relayed.js'
import { Digest, type DigestMessage } from '../../reapi/digest.js'
import { functionsByValue } from '../../reapi/digest-function.js'
import type { UploadPart } from '../../rpc/call.js'
import type { PackedRecords } from '../../rpc/packed-records.js'
import type { AuditEntry } from '../../security/audit-log.js'
import type { Verified } from '../../security/identity/verified-credentials.js'
import type { GateShare, ServedNames, VerifiedKind } from '../../security/thread-gate.js'
import type { CarriedToThread, ConnectionsToOwner } from '../../server/threads/events.js'
import type { Failure } from '../../server/threads/failure.js'
import type { ListenersToThread } from '../../server/threads/thread-listener.js'
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

/** What a thread serves itself. */
export interface Served {
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

/** What the owner tells a thread that serves calls. */
export interface ServingToThread {
  /** Answered once the thread serves. */
  serve(served: Served): Promise<void>
  /** Other rules of access, or other tokens. */
  gate(gate: GateShare): void
  /** The owner has checked the credential of a caller. */
  verified(by: VerifiedKind, verified: Verified): void
  /** The number by which the owner knows a build. */
  numbered(invocation: string, number: number): void
  /** A file of records of a store is deleted. */
  retired(path: string, number: number): void
}

/** What a thread that serves calls tells and asks the owner. */
export interface ServingToOwner {
  log(level: LogLevel, message: string, fields: LogFields): void
  metrics(changes: MetricChanges | undefined, extensionCount: number): void
  /** What was asked of the gates. */
  audited(entry: AuditEntry): void
  /** A build has calls. */
  touched(invocation: string): void
  /** Requests about actions of a build since the last time, in the order of OUTCOMES. */
  counted(invocation: string, counts: readonly number[]): void
  /** What became of requests about actions. */
  records(records: PackedRecords): void
  /** These slots of a store were used. */
  used(path: string, slots: Int32Array): void
  claimed(path: string, claimant: SentClaimant, slots: Int32Array): void
  /** Keeps a finished file. */
  commit(path: string, digest: SentDigest, file: FinishedFile, claimant: SentClaimant): Promise<void>
  /** Keeps small blobs, packed as `draftsOf` does. Answered by those that were not kept. */
  commitSmall(path: string, packed: Uint8Array, claimant: SentClaimant): Promise<readonly RefusedBlob[]>
  /** A blob was found gone or damaged where the index says that it is. */
  damaged(path: string, digest: SentDigest, slot: number, location: number, why: 'gone' | 'damaged'): Promise<void>
  keepPart(part: GivenPart): Promise<void>
  sizeOfPart(name: string): Promise<number | undefined>
  takePart(name: string): Promise<UploadPart | undefined>
}

/** All that a service thread hears, and all that the owner hears of one. */
export type ToThread = ListenersToThread & CarriedToThread & ServingToThread
export type ToOwner = ConnectionsToOwner & ServingToOwner

/** For which build blobs are kept, and for how long. */
export interface SentClaimant {
  readonly invocation: string | undefined
  readonly keepForMs: number | undefined
}

/** One of several small blobs was not stored. */
export interface RefusedBlob {
  /** Its place among them. */
  readonly at: number
  readonly failure: Failure
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
