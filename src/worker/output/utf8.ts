import { isUtf8 } from 'node:buffer'
import { StatusError } from '../../base/status-error.js'

/** A name of the file system as text. FAILED_PRECONDITION if it is not UTF-8, which REAPI requires. */
export const textOf = (bytes: Buffer, what: 'name' | 'symlink target'): string => {
  if (isUtf8(bytes)) return bytes.toString()
  const shown = bytes
    .toString('latin1')
    .replace(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
  throw new StatusError('FAILED_PRECONDITION', `the command made a ${what} that is not UTF-8: "${shown}"`)
}
