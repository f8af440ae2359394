import { readFile } from 'node:fs/promises'
import { startFailure } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'

/** Password hashes by user name. */
export type Htpasswd = ReadonlyMap<string, string>

const BCRYPT = /^\$2[aby]\$(?:0[4-9]|1[0-5])\$[./A-Za-z0-9]{53}$/

/** Reads the output of `htpasswd -B`. INVALID_ARGUMENT names a wrong line, but shows none of its content. */
export const readHtpasswd = async (path: string): Promise<Htpasswd> => {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw startFailure('htpasswd_file', error)
  })
  const hashes = new Map<string, string>()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const at = line.indexOf(':')
    const hash = line.slice(at + 1).trim()
    if (at < 1 || !BCRYPT.test(hash)) {
      const expected = 'expected NAME:HASH with bcrypt of cost 4 to 15, as htpasswd -B makes it'
      throw new StatusError('INVALID_ARGUMENT', `htpasswd_file, line ${index + 1}: ${expected}`)
    }
    hashes.set(line.slice(0, at), hash)
  }
  return hashes
}
