import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { errnoOf } from '../../base/errno.js'
import { statsOf } from './inside-root.js'
import { OpenDirectory } from './open-directory.js'

const PREFIX = 'remexec-'
const SESSION_NAME = /^remexec-[0-9a-f]{16}$/
/** Who is not root may pass but not list it: actions cannot stumble over each other. */
const NOT_LISTED = 0o311

/** 16 hexadecimal digits. Nobody can make something of that name beforehand. Node keeps random bytes ahead for these alone. */
export const newName = (): string => randomUUID().replaceAll('-', '').slice(16)

/** Whether a name in a work directory is that of a session, of this or an earlier worker. */
export const isSession = (name: string): boolean => SESSION_NAME.test(name)

/**
 * The folder of one run of a worker in its work directory, with a directory for each run of a command. It is held open
 * until it is retired and the last of these is gone.
 */
export class Session {
  readonly name = `${PREFIX}${newName()}`
  readonly folder: OpenDirectory
  /** The work directory, as it was when the session began. */
  readonly place: OpenDirectory
  #inUse = 1

  /** Throws as the file system does. */
  constructor(workDirectory: string) {
    this.place = OpenDirectory.open(workDirectory)
    try {
      mkdirSync(`${this.place.at}/${this.name}`)
      this.folder = this.place.child(this.name)
      chmodSync(this.folder.at, NOT_LISTED)
    } catch (error) {
      this.place.close()
      throw error
    }
  }

  /** Whether directories made here can be reached by their paths. */
  isInPlace(): boolean {
    return this.folder.isInPlace()
  }

  create(): RunDirectory {
    const name = newName()
    mkdirSync(`${this.folder.at}/${name}`)
    return new RunDirectory(this.hold(), name)
  }

  /** Keeps it open until it is released once more. */
  hold(): this {
    this.#inUse++
    return this
  }

  /** One of those who needed it does so no more. */
  release(): void {
    if (--this.#inUse > 0) return
    this.folder.close()
    this.place.close()
  }

  /** Removes the folder unless something is in it, and frees it in the end. */
  retire(): void {
    try {
      rmdirSync(`${this.place.at}/${this.name}`)
    } catch {
      // What is in it, or in its place, is for the next worker to remove, and to tell about when it cannot.
    } finally {
      this.release()
    }
  }
}

/** A directory for one run of a command. */
export class RunDirectory {
  readonly name: string
  readonly session: Session
  /** The directory in it, and what was seen of the two. */
  #made: { readonly name: string; readonly seen: string } | undefined

  constructor(session: Session, name: string) {
    this.session = session
    this.name = name
  }

  /** Absolute. */
  get path(): string {
    return `${this.session.folder.path}/${this.name}`
  }

  /** Whether its path leads to it still. */
  isThere(): boolean {
    if (!this.session.isInPlace()) return false
    const directory = this.open()
    directory?.close()
    return directory !== undefined
  }

  /** All that it holds is an empty directory, and now that is to be remembered. */
  made(name: string): void {
    const seen = this.#look(name)
    this.#made = seen === undefined ? undefined : { name, seen }
  }

  /** Whether nothing was done to it and the directory in it since they were `made`. */
  isAsMade(): boolean {
    return this.#made !== undefined && this.#look(this.#made.name) === this.#made.seen
  }

  /** Undefined when there is something else. What is in the inner one is looked at too: clocks of file systems tick slowly. */
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

  /** Removes it when nothing is in it but empty directories of these names. Answers whether it is gone. */
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

  /** It, or a directory in it; undefined when a command removed it or put something else in its place. */
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
