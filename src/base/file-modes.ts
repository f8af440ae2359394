import { stat } from 'node:fs/promises'

const OTHERS_READ = 0o004
const OTHERS_WRITE = 0o002

/** Warns of a file that every user of the machine can write, or read where it is a secret. `key` names it in the configuration. */
export const warnOfModes = async (
  key: string,
  path: string,
  { isSecret }: { readonly isSecret: boolean },
  warn: (message: string) => void,
): Promise<void> => {
  const { mode } = await stat(path)
  const read = isSecret && (mode & OTHERS_READ) !== 0
  const write = (mode & OTHERS_WRITE) !== 0
  if (!read && !write) return
  const may = [...(read ? ['read'] : []), ...(write ? ['write'] : [])].join(' and ')
  warn(`every user of this machine can ${may} ${key}: chmod o-${read ? 'r' : ''}${write ? 'w' : ''} ${path}`)
}
