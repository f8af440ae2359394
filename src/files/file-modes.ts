import { stat } from 'node:fs/promises'

const OTHERS_READ = 0o004
const OTHERS_WRITE = 0o002

export interface ModeTrouble {
  /** `read and write`. */
  readonly may: string
  /** For chmod. */
  readonly remedy: string
}

/** What every user of the machine may do with a file of this `st_mode` and should not. */
export const modeTrouble = (mode: number, { isSecret }: { readonly isSecret: boolean }): ModeTrouble | undefined => {
  const read = isSecret && (mode & OTHERS_READ) !== 0
  const write = (mode & OTHERS_WRITE) !== 0
  if (!read && !write) return undefined
  const may = [...(read ? ['read'] : []), ...(write ? ['write'] : [])].join(' and ')
  return { may, remedy: `o-${read ? 'r' : ''}${write ? 'w' : ''}` }
}

/** Warns of a file that every user of the machine can write, or read where it is a secret. `key` names it in the configuration. */
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
