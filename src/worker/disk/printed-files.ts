import { statsOf } from './inside-root.js'
import type { RunDirectory } from './session.js'
import type { WorkDirectory } from './work-directory.js'

/** Two files for what a command prints, alone in their directory. */
export interface PrintedFiles {
  readonly directory: RunDirectory
  readonly stdoutPath: string
  readonly stderrPath: string
  /** They are there, empty; else they have yet to be made. */
  readonly areMade: boolean
}

const MAX_FREE = 256

/**
 * Files for stdout and stderr, used again as long as nobody printed anything: making and deleting an inode costs more
 * than most small commands on a busy disk (0.4-1 ms of CPU on ext4), and most commands print nothing.
 */
export class PrintedFilesPool {
  readonly #workDirectory: WorkDirectory
  readonly #free: PrintedFiles[] = []

  constructor(workDirectory: WorkDirectory) {
    this.#workDirectory = workDirectory
  }

  async take(): Promise<PrintedFiles> {
    for (let free = this.#free.pop(); free !== undefined; free = this.#free.pop()) {
      if (areThere(free)) return free
      this.#workDirectory.discard(free.directory)
    }
    const directory = await this.#workDirectory.create()
    const { path } = directory
    return { directory, stdoutPath: `${path}/stdout`, stderrPath: `${path}/stderr`, areMade: false }
  }

  /** `areFree`: both are there and empty, and no process has them open. */
  giveBack(files: PrintedFiles, areFree: boolean): void {
    if (areFree && this.#free.length < MAX_FREE) this.#free.push({ ...files, areMade: true })
    else this.#workDirectory.discard(files.directory)
  }

  /** Removes the files that nobody has. */
  close(): void {
    for (const { directory } of this.#free.splice(0)) this.#workDirectory.discard(directory)
  }
}

/** A command may have removed what is not its own. */
const areThere = ({ stdoutPath, stderrPath }: PrintedFiles): boolean =>
  statsOf(stdoutPath) !== undefined && statsOf(stderrPath) !== undefined
