/** What a client needs that speaks TLS: PEM. */
export interface ClientTls {
  /** Whom it trusts. */
  readonly ca: string
  /** What says who it is. */
  readonly cert: string
  readonly key: string
}

/** Where calls go. */
export interface Target {
  /** `host:port`. */
  readonly address: string
  /** Undefined for a server that speaks plain. */
  readonly tls?: ClientTls | undefined
  /** What every call brings beside its own headers. */
  readonly headers?: Readonly<Record<string, string>>
}
