import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { errnoOf } from '../../base/errno.js'
import { statsOf } from './inside-root.js'
import { OpenDirectory } from './open-directory.js'

const PREFIX = 'remexec-'
const SESSION_NAME = /^remexec-[0-9a-f]{16}$/
/** Users other than root may enter but not list it, so that actions cannot find each other by accident. */
const NOT_LISTED = 0o311

/** 16 unpredictable hexadecimal digits. Uses randomUUID, because Node caches random bytes only for that. */
export const newName = (): string => randomUUID().replaceAll('-', '').slice(16)

/** Whether a name in a work directory belongs to a session of this or an earlier worker. */
export const isSession = (name: string): boolean => SESSION_NAME.test(name)

/**
 * The folder of one run of a worker in its work directory, with one directory for each run of a command. It is held
 * open until it is retired and all of these directories are released.
 */
export class Session {
  readonly name = `${PREFIX}${newName()}`
  readonly folder: OpenDirectory
  /** The work directory at the start of the session. */
  readonly directory: OpenDirectory
  #inUse = 1

  /** Throws like the file system. */
  constructor(workDirectory: string) {
    this.directory = OpenDirectory.open(workDirectory)
    try {
      mkdirSync(`${this.directory.at}/${this.name}`)
      this.folder = this.directory.child(this.name)
      chmodSync(this.folder.at, NOT_LISTED)
    } catch (error) {
      this.directory.close()
      throw error
    }
  }

  /** Whether the paths of directories made here still lead to them. */
  isStillThere(): boolean {
    return this.folder.isStillThere()
  }

  create(): RunDirectory {
    const name = newName()
    mkdirSync(`${this.folder.at}/${name}`)
    return new RunDirectory(this.hold(), name)
  }

  /** Adds a reference; `release` drops it. */
  hold(): this {
    this.#inUse++
    return this
  }

  /** Drops a reference; the last one closes the folder. */
  release(): void {
    if (--this.#inUse > 0) return
    this.folder.close()
    this.directory.close()
  }

  /** Removes the folder if it is empty, and drops the first reference. */
  retire(): void {
    try {
      rmdirSync(`${this.directory.at}/${this.name}`)
    } catch {
      // The next worker removes what is left, and logs what it cannot remove.
    } finally {
      this.release()
    }
  }
}

/** A directory for one run of a command. */
export class RunDirectory {
  readonly name: string
  readonly session: Session
  /** The inner directory, and a fingerprint of both directories. */
  #made: { readonly name: string; readonly seen: string } | undefined

  constructor(session: Session, name: string) {
    this.session = session
    this.name = name
  }

  /** Absolute. */
  get path(): string {
    return `${this.session.folder.path}/${this.name}`
  }

  /** Whether its path still leads to it. */
  isThere(): boolean {
    if (!this.session.isStillThere()) return false
    const directory = this.open()
    directory?.close()
    return directory !== undefined
  }

  /** Records its state. It must contain only an empty directory with this name. */
  made(name: string): void {
    const seen = this.#look(name)
    this.#made = seen === undefined ? undefined : { name, seen }
  }

  /** Whether the directory and the one in it are unchanged since `made`. */
  isAsMade(): boolean {
    return this.#made !== undefined && this.#look(this.#made.name) === this.#made.seen
  }

  /**
   * A fingerprint; undefined if it contains anything else. The inner directory is also listed, because the clocks of
   * file systems are coarse.
   */
  #look(name: string): string | undefined {
    const directory = this.open()
    if (directory === undefined) return undefined
    try {
      const inner = directory.below(name)
      const seen = [`${directory.at}/.`, String(inner)].map((path) => {
        const { ino, mode, uid, gid, nlink, ctimeMs } = statsOf(path) ?? {}
        return [ino, mode, uid, gid, nlink, ctimeMs].join()
      })
      return readdirSync(inner).length === 0 ? seen.join() : undefined
    } catch {
      return undefined
    } finally {
      directory.close()
    }
  }

  /** Removes it if it contains only empty directories with these names. Returns whether it was removed. */
  removeEmpty(names: readonly string[]): boolean {
    const directory = this.open()
    if (directory === undefined) return false
    try {
      for (const name of names) rmdirSync(directory.below(name))
    } catch {
      return false
    } finally {
      directory.close()
    }
    try {
      rmdirSync(this.session.folder.below(this.name))
      return true
    } catch {
      return false
    }
  }

  /** Opens it, or a directory in it. Undefined if a command removed or replaced it. */
  open(name?: string): OpenDirectory | undefined {
    let directory: OpenDirectory | undefined
    try {
      directory = this.session.folder.child(this.name)
      return name === undefined ? directory : directory.child(name)
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) return undefined
      throw error
    } finally {
      if (name !== undefined) directory?.close()
    }
  }
}
