import { stat } from 'node:fs/promises'

const OTHERS_READ = 0o004
const OTHERS_WRITE = 0o002

export interface ModeTrouble {
  /** `read and write`. */
  readonly may: string
  /** The mode to pass to chmod. */
  readonly remedy: string
}

/** Permissions that a file of this `st_mode` grants to every user and should not. */
export const modeTrouble = (mode: number, { isSecret }: { readonly isSecret: boolean }): ModeTrouble | undefined => {
  const read = isSecret && (mode & OTHERS_READ) !== 0
  const write = (mode & OTHERS_WRITE) !== 0
  if (!read && !write) return undefined
  const may = [...(read ? ['read'] : []), ...(write ? ['write'] : [])].join(' and ')
  return { may, remedy: `o-${read ? 'r' : ''}${write ? 'w' : ''}` }
}

/** Warns if every user can write a file, or read a secret one. `key` is its name in the configuration. */
export const warnOfModes = async (
  key: string,
  path: string,
  { isSecret }: { readonly isSecret: boolean },
  warn: (message: string) => void,
): Promise<void> => {
  const trouble = modeTrouble((await stat(path)).mode, { isSecret })
  if (trouble !== undefined)
    warn(`every user of this machine can ${trouble.may} ${key}: chmod ${trouble.remedy} ${path}`)
}
