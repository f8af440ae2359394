/** How a caller was identified. `process` is a worker of this process. */
export type IdentityKind = 'anonymous' | 'header' | 'token' | 'jwt' | 'basic' | 'certificate' | 'process'

/** A caller. The same caller has the same object wherever possible, because its permissions are cached by it. */
export interface Identity {
  readonly kind: IdentityKind
  readonly name: string
  readonly groups: readonly string[]
  /** The scope that its source says, whatever the rules. */
  readonly scope?: string
  /** Claims of a JWT. */
  readonly claims?: Readonly<Record<string, unknown>>
}

export const ANONYMOUS: Identity = { kind: 'anonymous', name: '', groups: [] }

export const describe = ({ kind, name }: Identity): string => (kind === 'anonymous' ? kind : `${kind} ${name}`)
