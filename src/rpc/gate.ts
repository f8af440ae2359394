import type { X509Certificate } from 'node:crypto'

/** What one may do. All but `work` is done in an instance. */
export type Permission = 'read_cas' | 'write_cas' | 'read_ac' | 'write_ac' | 'execute' | 'work' | 'administer'

/** What a client shows of who it is. */
export interface Caller {
  /** Names in lower case. */
  readonly metadata: ReadonlyMap<string, string | Buffer>
  /** Whether the request has a header more than once: `metadata` has only the first. */
  repeats(name: string): boolean
  /** `host:port`. */
  readonly peer: string
  /** Checked by TLS. */
  readonly clientCertificate: X509Certificate | undefined
}

/** Who calls, and what it may do. */
export interface Visitor {
  /** For logs: `token ci`, `anonymous`. */
  readonly identity: string
  /** What results say of who asked for them: undefined where they are to say nothing. */
  readonly nameInResults: string | undefined
  /** Whether it is shown to this caller what the results of an instance say of who asked for them. */
  maySeeOrigins(instanceName: string): boolean
  mayIn(instanceName: string, permission: Permission): boolean
  /**
   * Judges the first message of a call, raw where its method takes it so. Throws UNAUTHENTICATED or PERMISSION_DENIED, and of
   * an instance of which the caller may know nothing what is thrown of one that there is not. `peer` is where it came from.
   */
  check(path: string, request: object, peer: string): void
}

/** Stands before the services of a listener: of each call it is told before its service is. */
export interface Gate {
  /**
   * Who makes a call of the method at `path`. Throws UNAUTHENTICATED where what is shown is wrong, and where the method is
   * not for this caller whatever the request. A promise only where something must be waited for.
   */
  admit(path: string, caller: Caller): Visitor | Promise<Visitor>
  /** Lets those pass who may see what goes on in the process; rejects as `admit` throws. */
  admitOperator(caller: Caller): Promise<void>
}
