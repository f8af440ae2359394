import { createHash, type Hash } from 'node:crypto'
import { StatusError } from '../../base/status-error.js'
import { badRequest } from '../../proto/error-details.js'

/** Functions of Subresource Integrity, the strongest first. */
const ALGORITHMS = ['sha512', 'sha384', 'sha256'] as const
type Algorithm = (typeof ALGORITHMS)[number]

const HASH_BYTES: Readonly<Record<Algorithm, number>> = { sha512: 64, sha384: 48, sha256: 32 }

/** The checksum of a `checksum.sri` qualifier: content matches if it has any of the hashes. */
export interface Integrity {
  readonly algorithm: Algorithm
  /** Lower-case hex. */
  readonly hashes: readonly string[]
}

/**
 * Parses the text of a `checksum.sri` qualifier: hashes with spaces between them. Only those of the strongest function that occurs
 * count (W3C Subresource Integrity). Throws INVALID_ARGUMENT if none is known.
 */
export const parseIntegrity = (text: string): Integrity => {
  const found = text.split(/\s+/).flatMap((one) => {
    const [, algorithm, base64 = ''] = HASH.exec(one) ?? []
    const known = ALGORITHMS.find((name) => name === algorithm)
    if (known === undefined) return []
    const bytes = Buffer.from(base64, 'base64')
    return bytes.length === HASH_BYTES[known] ? [{ algorithm: known, hash: bytes.toString('hex') }] : []
  })
  const algorithm = ALGORITHMS.find((name) => found.some((one) => one.algorithm === name))
  if (algorithm !== undefined) {
    return { algorithm, hashes: found.filter((one) => one.algorithm === algorithm).map(({ hash }) => hash) }
  }
  const shown = JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}...` : text)
  const description = `checksum.sri ${shown} is not valid, expected FUNCTION-BASE64, with one of ${ALGORITHMS.join(', ')}`
  const details = [badRequest([{ field: 'qualifiers.value', description }])]
  throw new StatusError('INVALID_ARGUMENT', description, { details })
}

/** Options may follow a `?`; none has a meaning. Base64 of both alphabets. */
const HASH = /^(sha\d+)-([A-Za-z0-9+/_-]+={0,2})(?:\?.*)?$/

export const hashFor = ({ algorithm }: Integrity): Hash => createHash(algorithm)
