import type { X509Certificate } from 'node:crypto'
import type { Scope } from './scope.js'

/** The permissions. All but `work` and `forward` apply to an instance. */
export type Permission =
  | 'read_cas'
  | 'write_cas'
  | 'read_ac'
  | 'write_ac'
  | 'execute'
  | 'push'
  | 'work'
  | 'forward'
  | 'administer'

/** The credentials that a client sent. */
export interface Caller {
  /** Names in lower case. */
  readonly metadata: ReadonlyMap<string, string | Buffer>
  /** Whether a header occurs more than once. `metadata` has only its first value. */
  repeats(name: string): boolean
  /** `host:port`. */
  readonly peer: string
  /** Verified by TLS. */
  readonly clientCertificate: X509Certificate | undefined
}

/** A request over HTTP, other than gRPC. */
export interface PageRequest {
  readonly method: string
  /** The raw request target, including the query. */
  readonly target: string
}

/** A known caller and its permissions. */
export interface Visitor {
  /** For logs: `token ci`, `anonymous`. */
  readonly identity: string
  /** The name to record in results as the caller; undefined to record none. */
  readonly nameInResults: string | undefined
  /** Whether this caller may see the pages about the process. */
  readonly isOperator: boolean
  /** Whether it is a server that speaks for its own callers and workers, in at least one instance. */
  readonly forwards: boolean
  /** Whether this caller may see the recorded callers in the results of an instance. */
  maySeeOrigins(instanceName: string): boolean
  may(permission: Permission, instanceName: string): boolean
  /** Where the caller writes in an instance; undefined for a trusted caller, which writes what everybody reads. */
  scopeIn(instanceName: string): Scope | undefined
  /**
   * Throws UNAUTHENTICATED or PERMISSION_DENIED unless the caller has the permission in the instance. For requests over
   * HTTP; `check` is for methods of gRPC.
   */
  demand(permission: Permission, instanceName: string, request: PageRequest, peer: string): void
  /**
   * Checks the first message of a call, encoded if the method takes encoded messages. Throws UNAUTHENTICATED or
   * PERMISSION_DENIED. An instance that the caller must not know of gives the same error as one that does not exist.
   * `peer` is the address of the caller.
   */
  check(path: string, request: object, peer: string): void
}

/** Refuses, with an error, a request that its caller could make. `identity` is that of the caller. */
export type RequestCheck = (identity: string | undefined) => Promise<void>

/** The gate of a service thread. It admits the callers that it knows; the owner of the process admits all others. */
export interface ThreadGate extends Gate {
  /** Whether this thread can tell who it is, and no limit on its requests is counted. */
  knows(caller: Caller): boolean
}

/** Authorizes the calls of a listener before its services see them. */
export interface Gate {
  /**
   * Identifies the caller of the method at `path`. Throws UNAUTHENTICATED for wrong credentials, and an error if the
   * caller may not call the method with any request. Returns a promise only if it must wait.
   */
  admit(path: string, caller: Caller): Visitor | Promise<Visitor>
  /**
   * Identifies the caller of a request over HTTP. Throws UNAUTHENTICATED for wrong credentials, and RESOURCE_EXHAUSTED
   * if it makes too many requests. What the caller may do there is a question to the visitor.
   */
  admitCaller(caller: Caller, request: PageRequest): Visitor | Promise<Visitor>
  /**
   * Resolves if the caller may see the pages about the process, and `check` accepts the request; rejects with the errors of
   * `admit` or of `check`.
   */
  admitOperator(caller: Caller, request: PageRequest, check?: RequestCheck): Promise<Visitor>
}
