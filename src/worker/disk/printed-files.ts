import { closeSync, constants, openSync, unlinkSync } from 'node:fs'
import { errnoOf } from '../../base/errno.js'
import { newName } from './session.js'

const { O_RDWR, O_CREAT, O_EXCL, O_DIRECTORY } = constants
/** Linux' own, which Node does not name: a file that no folder has. */
const O_TMPFILE = 0o20000000 | O_DIRECTORY
const MODE = 0o600

/** As the C library has it. */
export interface FilesInMemory {
  memfdCreate(name: string, flags: number): number
}

const CLOSE_ON_EXEC = 1

/**
 * Two files for what a command prints. They have no names: nobody can remove, replace or find them. Those in memory are nothing
 * to a file system: a file without a name costs two entries in the journal of ext4, when it is made and when it goes.
 */
export class PrintedFiles {
  readonly stdout: number
  readonly stderr: number

  /** In memory where it can be had, else in a directory that is there. Throws as the file system does. */
  constructor(directory: string, memory?: FilesInMemory) {
    this.stdout = openNameless(directory, memory)
    try {
      this.stderr = openNameless(directory, memory)
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

/** An empty file that no folder has. Throws as the file system does. */
export const openNameless = (directory: string, memory: FilesInMemory | undefined): number => {
  const inMemory = memory?.memfdCreate('printed', CLOSE_ON_EXEC) ?? -1
  if (inMemory >= 0) return inMemory
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
