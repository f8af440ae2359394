import type { X509Certificate } from 'node:crypto'
import { StatusError } from '../../base/status-error.js'
import type { CertificateIdentity } from '../../config/config.js'
import type { Identity } from './identity.js'

/** The identity of a client certificate. Cached per certificate object, of which each connection has one. */
export class Certificates {
  readonly #options: CertificateIdentity
  readonly #known = new WeakMap<X509Certificate, Identity>()

  constructor(options: CertificateIdentity) {
    this.#options = options
  }

  identify(certificate: X509Certificate): Identity {
    const known = this.#known.get(certificate)
    if (known !== undefined) return known
    const subject = subjectOf(certificate)
    const { name: source, groups } = this.#options
    const name = source === 'common_name' ? subject.CN?.[0] : alternativeName(certificate, PREFIX[source])
    if (name === undefined || name === '') {
      throw new StatusError('UNAUTHENTICATED', `the client certificate has no ${source.replace('_', ' ')}`)
    }
    const identity: Identity = {
      kind: 'certificate',
      name,
      groups: (groups !== 'none' && subject[GROUPS[groups]]) || [],
    }
    this.#known.set(certificate, identity)
    return identity
  }
}

const PREFIX = { dns: 'DNS:', uri: 'URI:', email: 'email:' } as const
const GROUPS = { organization: 'O', organizational_unit: 'OU' } as const

type Subject = Readonly<Partial<Record<'CN' | 'O' | 'OU', readonly string[]>>>

const subjectOf = (certificate: X509Certificate): Subject => {
  const { subject } = certificate.toLegacyObject()
  const texts = (value: unknown): readonly string[] => [value].flat().filter((one) => typeof one === 'string')
  return { CN: texts(subject?.CN), O: texts(subject?.O), OU: texts(subject?.OU) }
}

/**
 * The first alternative name of a type. Node quotes a name with a comma or a quote as JSON, so that it cannot pass for
 * two.
 */
const alternativeName = ({ subjectAltName = '' }: X509Certificate, prefix: string): string | undefined => {
  const names = subjectAltName.match(/[A-Za-z ]+:(?:"(?:[^"\\]|\\.)*"|[^,]*)/g) ?? []
  const first = names.map((name) => name.trimStart()).find((name) => name.startsWith(prefix))
  const value = first?.slice(prefix.length)
  return value?.startsWith('"') ? String(JSON.parse(value)) : value
}
