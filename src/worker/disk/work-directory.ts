import { mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { advice, inWords } from '../../base/errno.js'
import type { HealthStatus } from '../../base/health.js'
import { StatusError } from '../../base/status-error.js'
import type { Log } from '../../log/log.js'
import type { OpenDirectory } from './open-directory.js'
import { removeTree } from './remove-tree.js'
import { isSession, newName, type RunDirectory, Session } from './session.js'

const PARALLEL_REMOVALS = 2
/** Enough for all commands that run at a time. */
const MAX_SPARES = 64

interface Doomed {
  readonly from: OpenDirectory
  readonly name: string
  /** Holds `from` open. */
  readonly session: Session
}

/**
 * The directory in which commands run, each in its own directory, which is removed in the background afterwards. These
 * lie in a folder with a new name for each run of the worker. So leftovers of an earlier run cause no conflicts, and
 * nothing else in the work directory is touched. If a command removes or replaces that folder, the next command gets a
 * new one.
 */
export class WorkDirectory {
  /** Absolute, without symlinks. */
  readonly path: string
  readonly #log: Log
  readonly #doomed: Doomed[] = []
  readonly #removals = new Set<Promise<void>>()
  /** Directories that their runs left unchanged. */
  readonly #spares: { readonly directory: RunDirectory; readonly names: readonly string[] }[] = []
  #session: Session
  #failure: string | undefined
  #isClosed = false

  private constructor(path: string, session: Session, log: Log) {
    this.path = path
    this.#session = session
    this.#log = log
  }

  /** Creates the directory if it is missing. Throws FAILED_PRECONDITION if it cannot be used. */
  static open(path: string, log: Log): WorkDirectory {
    try {
      mkdirSync(path, { recursive: true })
      const real = realpathSync(path)
      return new WorkDirectory(real, new Session(real), log)
    } catch (cause) {
      const message = `work_directory ${JSON.stringify(path)} cannot be used: ${inWords(cause)}${advice(cause)}`
      throw new StatusError('FAILED_PRECONDITION', message, { cause })
    }
  }

  /** A new directory for one run. Throws UNAVAILABLE if it cannot be created. */
  create(): RunDirectory {
    if (!this.#session.isStillThere()) this.#beginAgain()
    try {
      const directory = this.#session.create()
      this.#failure = undefined
      return directory
    } catch (error) {
      throw this.#failed(error)
    }
  }

  /**
   * An unchanged directory of an earlier run, if there is one. On a file system that reports free space to its disk
   * immediately (discard), removing two empty directories blocks the worker for milliseconds.
   */
  spare(): RunDirectory | undefined {
    if (this.#spares.length === 0 || !this.#session.isStillThere()) return undefined
    for (let spare = this.#spares.pop(); spare !== undefined; spare = this.#spares.pop()) {
      const { directory, names } = spare
      if (directory.session === this.#session && directory.isAsMade()) return directory
      this.discard(directory, names)
    }
    return undefined
  }

  /**
   * Takes back the directory of a run that no process can reach any more. Keeps it as a spare if it is unchanged since
   * `made`, else removes it.
   */
  giveBack(directory: RunDirectory, names: readonly string[]): void {
    if (!this.#isClosed && this.#spares.length < MAX_SPARES && directory.isAsMade())
      this.#spares.push({ directory, names })
    else this.discard(directory, names)
  }

  /**
   * Removes a run's directory. Immediately if it contains only empty directories with the given names; else later, a
   * few at a time, so that removals do not slow down running actions.
   */
  discard(directory: RunDirectory, names: readonly string[] = []): void {
    const { session, name } = directory
    if (directory.removeEmpty(names)) session.release()
    else this.#remove({ from: session.folder, name, session })
  }

  /** The failure if no action can run now; else undefined. */
  health(): HealthStatus | undefined {
    if (this.#failure === undefined) return undefined
    return { state: 'Failed', message: 'could not create a directory for actions', error: this.#failure }
  }

  /** Resolves when all directories discarded so far are removed. */
  async settle(): Promise<void> {
    while (this.#removals.size > 0) await Promise.all(this.#removals)
  }

  /** Leaves the rest for the next worker to remove. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    for (const { directory, names } of this.#spares.splice(0)) this.discard(directory, names)
    this.#isClosed = true
    await this.settle()
    this.#session.retire()
  }

  #beginAgain(): void {
    try {
      mkdirSync(this.path, { recursive: true })
      const session = new Session(this.path)
      this.#session.retire()
      this.#session = session
      this.#log.warn('the folder of the running actions was removed or replaced, there is a new one', {
        path: this.path,
      })
    } catch (error) {
      throw this.#failed(error)
    }
  }

  #failed(cause: unknown): StatusError {
    const failure = `${this.path}: ${inWords(cause)}`
    if (failure !== this.#failure) this.#log.error('could not create a directory for actions', { reason: failure })
    this.#failure = failure
    return new StatusError('UNAVAILABLE', 'no directory for an action can be made on this worker', { cause })
  }

  /** Starts to remove what earlier workers left. No other worker may use the work directory. */
  removeRemains(): void {
    const session = this.#session
    for (const name of readdirSync(session.directory.at)) {
      if (isSession(name) && name !== session.name)
        this.#remove({ from: session.directory, name, session: session.hold() })
    }
  }

  #remove(doomed: Doomed): void {
    this.#doomed.push(doomed)
    if (this.#removals.size >= PARALLEL_REMOVALS) return
    const removal = this.#removeDoomed().finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }

  async #removeDoomed(): Promise<void> {
    for (let doomed = this.#doomed.pop(); doomed !== undefined; doomed = this.#doomed.pop()) {
      const { from, name, session } = doomed
      if (!this.#isClosed) {
        const aside = { folder: this.#session.folder, newName, isOver: () => this.#isClosed }
        const [first, ...others] = await removeTree(from, name, aside)
        if (first !== undefined) this.#logFailure(first.path, first.error, others.length)
      }
      session.release()
    }
  }

  #logFailure(path: string, error: unknown, others: number): void {
    const message = 'could not remove what an action left behind; the next start tries again'
    this.#log.warn(message, { path, reason: inWords(error), others })
  }
}
