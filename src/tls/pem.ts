import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { StatusError } from '../base/status-error.js'

const blocksOf = (pem: Buffer, label: string): readonly string[] =>
  pem.toString('latin1').match(new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----`, 'g')) ?? []

/** The certificates of a file. `of` names the file in errors. INVALID_ARGUMENT if there is none. */
export const certificatesOf = (pem: Buffer, of: string): readonly X509Certificate[] => {
  const blocks = blocksOf(pem, '(?:X509 |TRUSTED )?CERTIFICATE')
  if (blocks.length === 0) throw new StatusError('INVALID_ARGUMENT', `${of} holds no PEM certificate`)
  return blocks.map((block) => parsed(() => new X509Certificate(block), `${of} holds a certificate that is broken`))
}

/** INVALID_ARGUMENT unless the file has exactly one key, without a password. */
export const keyOf = (pem: Buffer, of: string): KeyObject => {
  const [key, ...others] = blocksOf(pem, '(?:\\w+ )?PRIVATE KEY')
  if (key === undefined || others.length > 0) {
    const found = key === undefined ? 'no PEM key' : `${others.length + 1} PEM keys`
    throw new StatusError('INVALID_ARGUMENT', `${of} holds ${found}, expected one`)
  }
  return parsed(() => createPrivateKey(pem), `${of} holds a key that cannot be read, expected one without a password`)
}

export const checkRevocationLists = (pem: Buffer, of: string): void => {
  if (blocksOf(pem, 'X509 CRL').length > 0) return
  throw new StatusError('INVALID_ARGUMENT', `${of} holds no PEM revocation list (X509 CRL)`)
}

const parsed = <T>(parse: () => T, problem: string): T => {
  try {
    return parse()
  } catch (cause) {
    throw new StatusError('INVALID_ARGUMENT', problem, { cause })
  }
}
