import { createHash } from 'node:crypto'
import { Digest } from '../../../src/reapi/digest.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'

/** A digest for each number; every fifth has a long hash. */
export const numbered = (number: number): Digest => {
  const isLong = number % 5 === 0
  const hash = createHash(isLong ? 'sha512' : 'sha256')
    .update(String(number))
    .digest('hex')
  return Digest.parse({ hash, sizeBytes: number }, isLong ? digestFunctions.SHA512 : digestFunctions.SHA256)
}

/** What an owner keeps for a blob of this number while it has this length. */
export const extraOf = (number: number, storedBytes: number): number => number * 1000 + storedBytes
