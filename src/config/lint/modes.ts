import { modeTrouble } from '../../files/file-modes.js'
import type { Findings } from '../findings.js'

interface ConfigFile {
  readonly file: string
  readonly mode: number
  /** In the file itself, not only in the environment variables that it uses. */
  readonly holdsSecrets: boolean
}

/** Users that can write the file control the process; users that can read it know its secrets. */
export const lintModes = ({ file, mode, holdsSecrets }: ConfigFile, findings: Findings): void => {
  const trouble = modeTrouble(mode, { isSecret: holdsSecrets })
  if (trouble === undefined) return
  const what = holdsSecrets ? 'this file, which has secrets in it' : 'this file'
  findings.warning([], `every user of this machine can ${trouble.may} ${what}`, {
    expected: `chmod ${trouble.remedy} ${file}`,
  })
}
