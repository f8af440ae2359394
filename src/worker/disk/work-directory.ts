import { mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { advice, inWords } from '../../base/errno.js'
import type { HealthStatus } from '../../base/health.js'
import { StatusError } from '../../base/status-error.js'
import type { Log } from '../../log/log.js'
import type { OpenDirectory } from './open-directory.js'
import { removeTree } from './remove-tree.js'
import { isSession, newName, type RunDirectory, Session } from './session.js'

const PARALLEL_REMOVALS = 2
/** More than run at a time are of no use. */
const MAX_SPARES = 64

interface Doomed {
  readonly from: OpenDirectory
  readonly name: string
  /** It keeps `from` open. */
  readonly session: Session
}

/**
 * Where commands run, each in a directory of its own that is removed in the background afterwards. They lie in a folder
 * with a name of its own for each run of the worker, so what an earlier one left behind is in nobody's way, and nothing
 * else in the work directory is touched. When a command removes or replaces that folder there is another one for the next.
 */
export class WorkDirectory {
  /** Absolute, without symlinks. */
  readonly path: string
  readonly #log: Log
  readonly #doomed: Doomed[] = []
  readonly #removals = new Set<Promise<void>>()
  /** Left by their runs as they were made. */
  readonly #spares: { readonly directory: RunDirectory; readonly names: readonly string[] }[] = []
  #session: Session
  #failure: string | undefined
  #isClosed = false

  private constructor(path: string, session: Session, log: Log) {
    this.path = path
    this.#session = session
    this.#log = log
  }

  /**
   * Makes the directory unless it is there. Throws FAILED_PRECONDITION when there can be no such directory.
   */
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

  /** A new directory for one run. Throws UNAVAILABLE when there can be none. */
  create(): RunDirectory {
    if (!this.#session.isInPlace()) this.#beginAgain()
    try {
      const directory = this.#session.create()
      this.#failure = undefined
      return directory
    } catch (error) {
      throw this.#failed(error)
    }
  }

  /**
   * One that was `made` for an earlier run and is so still, if there is any. Where a file system tells its disk at once what is free,
   * removing two empty directories takes milliseconds, in which the worker does nothing else.
   */
  spare(): RunDirectory | undefined {
    if (this.#spares.length === 0 || !this.#session.isInPlace()) return undefined
    for (let spare = this.#spares.pop(); spare !== undefined; spare = this.#spares.pop()) {
      const { directory, names } = spare
      if (directory.session === this.#session && directory.isAsMade()) return directory
      this.discard(directory, names)
    }
    return undefined
  }

  /** The directory of a run that nothing can reach any more is kept for another one if it is as it was `made`; else it is removed. */
  giveBack(directory: RunDirectory, names: readonly string[]): void {
    if (!this.#isClosed && this.#spares.length < MAX_SPARES && directory.isAsMade())
      this.#spares.push({ directory, names })
    else this.discard(directory, names)
  }

  /**
   * Removes a run's directory: at once when all that is left in it are empty directories of the names given, else later, a
   * few at a time, so that removals do not slow down what runs.
   */
  discard(directory: RunDirectory, names: readonly string[] = []): void {
    const { session, name } = directory
    if (directory.removeEmpty(names)) session.release()
    else this.#remove({ from: session.folder, name, session })
  }

  /** Why nothing can run now, if so. */
  health(): HealthStatus | undefined {
    if (this.#failure === undefined) return undefined
    return { state: 'Failed', message: 'no directory for actions can be made', error: this.#failure }
  }

  /** Resolves when everything discarded so far is gone. */
  async settle(): Promise<void> {
    while (this.#removals.size > 0) await Promise.all(this.#removals)
  }

  /** Leaves what is not removed by now to the next worker. Idempotent. */
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
    if (failure !== this.#failure) this.#log.error('no directory for actions can be made', { reason: failure })
    this.#failure = failure
    return new StatusError('UNAVAILABLE', 'no directory for an action can be made on this worker', { cause })
  }

  /** Begins to remove what earlier workers left: nobody else may work here. */
  removeRemains(): void {
    const session = this.#session
    for (const name of readdirSync(session.place.at)) {
      if (isSession(name) && name !== session.name) this.#remove({ from: session.place, name, session: session.hold() })
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
        if (first !== undefined) this.#tell(first.path, first.error, others.length)
      }
      session.release()
    }
  }

  #tell(path: string, error: unknown, others: number): void {
    const message = 'could not remove what an action left behind; the next start tries again'
    this.#log.warn(message, { path, reason: inWords(error), others })
  }
}
