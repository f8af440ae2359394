import { closeSync, constants, fstatSync, openSync, readSync, unlinkSync } from 'node:fs'
import { errnoOf } from '../../base/errno.js'
import { newName } from './session.js'

const { O_RDWR, O_CREAT, O_EXCL, O_DIRECTORY } = constants
/** A flag of Linux that Node does not name: creates a file without a name. */
const O_TMPFILE = 0o20000000 | O_DIRECTORY
const MODE = 0o600

/** The function of the C library. */
export interface FilesInMemory {
  memfdCreate(name: string, flags: number): number
}

const CLOSE_ON_EXEC = 1

/**
 * Two files for stdout and stderr of a command. They have no names, so no process can remove, replace or find them.
 * In-memory files are used if possible, because a file without a name costs two entries in the journal of ext4: on
 * creation and on removal.
 */
export class PrintedFiles {
  readonly stdout: number
  readonly stderr: number

  /** In memory if possible, else in an existing directory. Throws like the file system. */
  constructor(directory: string, memory?: FilesInMemory) {
    this.stdout = openNameless(directory, memory)
    try {
      this.stderr = openNameless(directory, memory)
    } catch (error) {
      closeSync(this.stdout)
      throw error
    }
  }

  /** The last bytes that were printed so far, also while a command prints. Nothing before the offsets. */
  last(maxBytes: number, offsets: { readonly stdout: number; readonly stderr: number }): PrintedSoFar {
    return {
      stdout: lastOf(this.stdout, maxBytes, offsets.stdout),
      stderr: lastOf(this.stderr, maxBytes, offsets.stderr),
    }
  }

  /** Call once. The printed data is gone afterwards. */
  close(): void {
    closeSync(this.stdout)
    closeSync(this.stderr)
  }
}

/** The end of each output, and how much was printed in all. */
export interface PrintedSoFar {
  readonly stdout: PrintedPart
  readonly stderr: PrintedPart
}

export interface PrintedPart {
  readonly bytes: Buffer
  readonly sizeBytes: number
}

const lastOf = (file: number, maxBytes: number, offset: number): PrintedPart => {
  const { size: sizeBytes } = fstatSync(file)
  const from = Math.max(0, offset, sizeBytes - maxBytes)
  const bytes = Buffer.alloc(Math.max(0, sizeBytes - from))
  const count = bytes.length === 0 ? 0 : readSync(file, bytes, 0, bytes.length, from)
  return { bytes: bytes.subarray(0, count), sizeBytes }
}

/** An empty file without a name. Throws like the file system. */
export const openNameless = (directory: string, memory: FilesInMemory | undefined): number => {
  const inMemory = memory?.memfdCreate('printed', CLOSE_ON_EXEC) ?? -1
  if (inMemory >= 0) return inMemory
  try {
    if (process.platform === 'linux') return openSync(directory, O_TMPFILE | O_RDWR, MODE)
  } catch (error) {
    // File systems without O_TMPFILE return one of these.
    if (!['EOPNOTSUPP', 'ENOTSUP', 'EISDIR', 'EINVAL'].includes(errnoOf(error) ?? '')) throw error
  }
  const path = `${directory}/${newName()}`
  const file = openSync(path, O_RDWR | O_CREAT | O_EXCL, MODE)
  unlinkSync(path)
  return file
}
