import { modeTrouble } from '../../base/file-modes.js'
import type { Findings } from '../findings.js'

interface ConfigFile {
  readonly file: string
  readonly mode: number
  /** In its own text, not in the environment that it refers to. */
  readonly holdsSecrets: boolean
}

/** Who can write the file decides what the process does; who can read it has the secrets that stand in it. */
export const lintModes = ({ file, mode, holdsSecrets }: ConfigFile, findings: Findings): void => {
  const trouble = modeTrouble(mode, { isSecret: holdsSecrets })
  if (trouble === undefined) return
  const what = holdsSecrets ? 'this file, which has secrets in it' : 'this file'
  findings.warning([], `every user of this machine can ${trouble.may} ${what}`, {
    expected: `chmod ${trouble.remedy} ${file}`,
  })
}
