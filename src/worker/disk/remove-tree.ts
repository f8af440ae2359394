import { readdirSync } from 'node:fs'
import { rename, rmdir, unlink } from 'node:fs/promises'
import { errnoOf } from '../../base/errno.js'
import type { OpenDirectory } from './open-directory.js'

/** An entry that could not be removed, and its present path. */
export interface Obstacle {
  readonly path: string
  readonly error: unknown
}

export interface Aside {
  /** An open directory on the same file system. */
  readonly folder: OpenDirectory
  /** Returns an unused name in `folder`. */
  readonly newName: () => string
  /** Checked before each step. If true, the removal stops and leaves the rest in `folder`. */
  readonly isOver: () => boolean
}

type Name = string | Buffer

/** A process may still write into a directory that was just emptied. */
const ROUNDS = 3

/**
 * Removes `name` in `from`, whatever its modes. Each directory is moved aside and emptied there. So depth and path
 * length do not matter, and a mount is not entered, because it cannot be moved. Names are looked up only in open
 * directories, and symlinks are removed but never followed. Returns the entries that could not be removed; all others
 * are gone.
 */
export const removeTree = async (from: OpenDirectory, name: Name, aside: Aside): Promise<readonly Obstacle[]> => {
  const removal = new Removal(aside)
  await removal.run(from, name)
  return removal.obstacles
}

class Removal {
  readonly obstacles: Obstacle[] = []
  readonly #aside: Aside
  /** Names of directories that were moved aside and wait for removal. */
  readonly #waiting: string[] = []

  constructor(aside: Aside) {
    this.#aside = aside
  }

  async run(from: OpenDirectory, name: Name): Promise<void> {
    await this.#take(from, name, true)
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      if (this.#aside.isOver()) return
      await this.#emptyAndRemove(next)
    }
  }

  async #take(from: OpenDirectory, name: Name, isDirectory: boolean): Promise<void> {
    try {
      if (isDirectory) await this.#moveAside(from, name)
      else
        await permitted(
          () => unlink(from.below(name)),
          () => from.unlock(),
        )
    } catch (error) {
      // It has become a directory since it was listed.
      if (!isDirectory && errnoOf(error) === 'EISDIR') await this.#take(from, name, true)
      else this.#report(from, name, error)
    }
  }

  async #moveAside(from: OpenDirectory, name: Name): Promise<void> {
    const { folder, newName } = this.#aside
    const moved = newName()
    await permitted(
      () => rename(from.below(name), folder.below(moved)),
      () => {
        from.unlock()
        // A move also changes the entry `..` in the directory itself.
        const child = from.child(name)
        child.unlock()
        child.close()
      },
    )
    this.#waiting.push(moved)
  }

  async #emptyAndRemove(name: string): Promise<void> {
    const { folder } = this.#aside
    try {
      for (let round = 1; await this.#isEmptied(name); round++) {
        try {
          await rmdir(folder.below(name))
          return
        } catch (error) {
          if (errnoOf(error) !== 'ENOTEMPTY' || round === ROUNDS) throw error
        }
      }
    } catch (error) {
      this.#report(folder, name, error)
    }
  }

  /** False if entries remain that could not be removed, or if the directory no longer exists. */
  async #isEmptied(name: string): Promise<boolean> {
    const directory = await this.#open(name)
    if (directory === undefined) return false
    const before = this.obstacles.length
    try {
      for (const entry of await listed(directory)) {
        if (this.#aside.isOver()) return false
        await this.#take(directory, entry.name, entry.isDirectory())
      }
    } finally {
      // Close before the removal: otherwise the close would free the directory, and block this thread for that time.
      directory.close()
    }
    return this.obstacles.length === before
  }

  /** Undefined if it was not a directory; then it has been removed. */
  async #open(name: string): Promise<OpenDirectory | undefined> {
    const { folder } = this.#aside
    try {
      return folder.child(name)
    } catch (error) {
      if (!['ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) throw error
      await unlink(folder.below(name))
      return undefined
    }
  }

  #report(directory: OpenDirectory, name: Name, error: unknown): void {
    // Another process has removed it.
    if (errnoOf(error) === 'ENOENT') return
    this.obstacles.push({ path: `${directory.path}/${name.toString()}`, error })
  }
}

const listed = (directory: OpenDirectory) =>
  permitted(
    async () => readdirSync(directory.at, { withFileTypes: true, encoding: 'buffer' }),
    () => directory.unlock(),
  )

/** Repeats `act` after `unlock` if permissions forbid it. */
const permitted = async <T>(act: () => Promise<T>, unlock: () => void): Promise<T> => {
  try {
    return await act()
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error
    unlock()
    return await act()
  }
}
