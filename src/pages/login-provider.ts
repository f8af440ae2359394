/** An identity provider that readers log in with. */
export interface LoginProvider {
  /** What readers call it. */
  readonly label: string
  /** Where the browser goes, and what it keeps for itself until it is back. */
  begin(asked: LoginAsked): Promise<{ readonly location: string; readonly sealed: string }>
  /**
   * The authorization of the reader, which holds for `lastsMs`, and where he wanted to go. UNAUTHENTICATED if the provider
   * did not identify him, or if this browser did not ask.
   */
  complete(answered: LoginAnswered): Promise<{ readonly authorization: string; readonly back: string }>
}

export interface LoginAsked {
  /** Where the provider sends the browser. */
  readonly redirectUri: string
  /** Where the reader wanted to go. */
  readonly back: string
}

export interface LoginAnswered {
  readonly redirectUri: string
  /** What the provider says in the address. */
  readonly answer: URLSearchParams
  /** What the browser kept; undefined if it has nothing. */
  readonly sealed: string | undefined
  readonly lastsMs: number
}
