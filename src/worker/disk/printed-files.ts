import { closeSync, constants, openSync, unlinkSync } from 'node:fs'
import { errnoOf } from '../../base/errno.js'
import { newName } from './session.js'

const { O_RDWR, O_CREAT, O_EXCL, O_DIRECTORY } = constants
/** Linux' own, which Node does not name: a file that no folder has. */
const O_TMPFILE = 0o20000000 | O_DIRECTORY
const MODE = 0o600

/** Two files for what a command prints. They have no names: nobody can remove, replace or find them. */
export class PrintedFiles {
  readonly stdout: number
  readonly stderr: number

  /** In a directory that is there. Throws as the file system does. */
  constructor(directory: string) {
    this.stdout = openNameless(directory)
    try {
      this.stderr = openNameless(directory)
    } catch (error) {
      closeSync(this.stdout)
      throw error
    }
  }

  /** Once; what was printed is gone with it. */
  close(): void {
    closeSync(this.stdout)
    closeSync(this.stderr)
  }
}

const openNameless = (directory: string): number => {
  try {
    if (process.platform === 'linux') return openSync(directory, O_TMPFILE | O_RDWR, MODE)
  } catch (error) {
    // File systems that cannot do that say one of these.
    if (!['EOPNOTSUPP', 'ENOTSUP', 'EISDIR', 'EINVAL'].includes(errnoOf(error) ?? '')) throw error
  }
  const path = `${directory}/${newName()}`
  const file = openSync(path, O_RDWR | O_CREAT | O_EXCL, MODE)
  unlinkSync(path)
  return file
}
