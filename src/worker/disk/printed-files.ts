import type { WorkDirectory } from './work-directory.js'

/** Two files for what a command prints, alone in their directory. */
export interface PrintedFiles {
  readonly directory: string
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
    const free = this.#free.pop()
    if (free !== undefined) return free
    const directory = await this.#workDirectory.create()
    return { directory, stdoutPath: `${directory}/stdout`, stderrPath: `${directory}/stderr`, areMade: false }
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
