/** By what a caller is known. `process` is a worker of this process. */
export type IdentityKind = 'anonymous' | 'header' | 'token' | 'jwt' | 'basic' | 'certificate' | 'process'

/** Who calls. The same object for the same caller wherever that can be, because what it may do is kept by it. */
export interface Identity {
  readonly kind: IdentityKind
  readonly name: string
  readonly groups: readonly string[]
  /** Of a JWT. */
  readonly claims?: Readonly<Record<string, unknown>>
}

export const ANONYMOUS: Identity = { kind: 'anonymous', name: '', groups: [] }

export const describe = ({ kind, name }: Identity): string => (kind === 'anonymous' ? kind : `${kind} ${name}`)
