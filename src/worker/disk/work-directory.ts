import { mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { chmod, mkdir, readdir, realpath, rm, rmdir, unlink, writeFile } from 'node:fs/promises'
import type { Log } from '../../base/log.js'
import { StatusError } from '../../base/status-error.js'
import { AtOnceWhileQuick } from './at-once.js'
import { errnoOf } from './errno.js'

/** By this file a worker recognises, at the next start, a directory that is its own to empty. */
const MARKER = '.remexec-work-directory'
const PARALLEL_REMOVALS = 2
const SMALL_ENTRIES = 8

/** The directory in which actions run, each in one of its own that is removed in the background afterwards. */
export class WorkDirectory {
  /** Absolute, without symlinks. */
  readonly path: string
  readonly #log: Log
  // ext4 may take 2 ms for either, which must not stop the loop.
  readonly #mkdir = new AtOnceWhileQuick(mkdirSync, mkdir)
  readonly #rmdir = new AtOnceWhileQuick(rmdirSync, rmdir)
  #created = 0
  readonly #doomed: string[] = []
  readonly #removals = new Set<Promise<void>>()

  private constructor(path: string, log: Log) {
    this.path = path
    this.#log = log
  }

  /**
   * Makes the directory or empties what an earlier worker left there. Rejects with FAILED_PRECONDITION when it holds
   * something else: emptying somebody's home directory must take more than a slip in a configuration.
   */
  static async open(path: string, log: Log): Promise<WorkDirectory> {
    await mkdir(path, { recursive: true })
    const real = await realpath(path)
    const names = await readdir(real)
    if (names.length > 0 && !names.includes(MARKER)) {
      const message = `work_directory ${JSON.stringify(path)} holds files that are not of a worker`
      throw new StatusError('FAILED_PRECONDITION', `${message}, expected an empty directory or none`)
    }
    if (names.length === 0) await writeFile(`${real}/${MARKER}`, '')
    for (const name of names.filter((name) => name !== MARKER)) await removeTree(`${real}/${name}`)
    return new WorkDirectory(real, log)
  }

  /** A new directory for one run. */
  async create(): Promise<string> {
    const path = `${this.path}/${++this.#created}`
    await this.#mkdir.call(path)
    return path
  }

  /** Removes a run's directory later; a few at a time, so that removals do not slow down what runs. */
  discard(path: string): void {
    this.#doomed.push(path)
    if (this.#removals.size >= PARALLEL_REMOVALS) return
    const removal = this.#removeDoomed().finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }

  /** Resolves when everything discarded so far is gone. */
  async settle(): Promise<void> {
    await Promise.all(this.#removals)
  }

  async #removeDoomed(): Promise<void> {
    for (let path = this.#doomed.pop(); path !== undefined; path = this.#doomed.pop()) {
      try {
        if (!(await this.#removeSmall(path))) await removeTree(path)
      } catch (error) {
        this.#log.warn('could not remove the directory of an action', { path, error })
      }
    }
  }

  /**
   * Removes what an action with few files leaves. False when there is more, or something is in the way: then part of it may
   * be gone.
   */
  async #removeSmall(path: string): Promise<boolean> {
    try {
      const names = readdirSync(path)
      if (names.length > SMALL_ENTRIES) return false
      if (names.length > 0) await Promise.all(names.map((name) => unlink(`${path}/${name}`)))
      await this.#rmdir.call(path)
      return true
    } catch {
      // It holds a directory, most of the time; whatever else it is, the longer way meets it again and tells.
      return false
    }
  }
}

/** Removes a tree whatever the modes of its directories; symlinks are removed, never followed. */
export const removeTree = async (path: string): Promise<void> => {
  try {
    await removeEntries(path)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT') return
    if (errno === 'ENOTDIR') return unlink(path)
    // A directory that forbids its own removal, a name too long to reach, a late writer: what remains takes longer ways.
    await unlock(path)
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  }
}

const removeEntries = async (path: string): Promise<void> => {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = `${path}/${entry.name}`
    if (entry.isDirectory()) await removeEntries(child)
    else await unlink(child)
  }
  await rmdir(path)
}

/** Gives this process all rights in every directory of a tree. */
const unlock = async (path: string): Promise<void> => {
  await chmod(path, 0o700)
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await unlock(`${path}/${entry.name}`)
  }
}
