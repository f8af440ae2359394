import { readFile } from 'node:fs/promises'
import { errnoOf } from './errno.js'

/** Files and sockets that the process may have open: the hard limit, to which Node raises itself. Undefined if the system does not say. */
export const descriptorLimit = async (): Promise<number | undefined> => {
  const text = await readFile('/proc/self/limits', 'utf8').catch((error: unknown) => {
    if (errnoOf(error) === undefined) throw error
    return ''
  })
  const [, hard] = /^Max open files +\S+ +(\d+)/m.exec(text) ?? []
  return hard === undefined ? undefined : Number(hard)
}

/** One descriptor for each connection, and one for a file that it reads or writes. */
export const connectionsFor = (descriptors: number): number => Math.floor(descriptors / 2)
