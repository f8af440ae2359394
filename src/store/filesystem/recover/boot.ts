import { readFile } from 'node:fs/promises'
import { errnoOf } from '../../../base/errno.js'

/** Identifies the run of the machine; all zero where the system does not tell. */
export const bootWords = async (): Promise<readonly number[]> => {
  const text = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return ''
    throw error
  })
  const id = Buffer.from(text.replaceAll('-', '').trim(), 'hex')
  return [0, 4, 8, 12].map((at) => (id.length === 16 ? id.readInt32LE(at) : 0))
}
