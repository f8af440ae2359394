import { readdirSync } from 'node:fs'
import { rename, rmdir, unlink } from 'node:fs/promises'
import { errnoOf } from '../../base/errno.js'
import type { OpenDirectory } from './open-directory.js'

/** Something that could not be removed, and where it is now. */
export interface Obstacle {
  readonly path: string
  readonly error: unknown
}

export interface Aside {
  /** An open directory of the same file system. */
  readonly folder: OpenDirectory
  /** A name that nothing has there. */
  readonly newName: () => string
  /** Asked before each step; what was begun is left in the folder. */
  readonly isOver: () => boolean
}

type Name = string | Buffer

/** Somebody may still be writing into a directory that was just emptied. */
const ROUNDS = 3

/**
 * Removes what is called `name` in `from`, whatever its modes. Each directory is moved aside and emptied there: so none is
 * too deep, no path too long, and a mount, which cannot be moved, is not entered. Names are looked up in open directories
 * only, and symlinks are removed, never followed. Answers what could not be removed; the rest is gone all the same.
 */
export const removeTree = async (from: OpenDirectory, name: Name, aside: Aside): Promise<readonly Obstacle[]> => {
  const removal = new Removal(aside)
  await removal.run(from, name)
  return removal.obstacles
}

class Removal {
  readonly obstacles: Obstacle[] = []
  readonly #aside: Aside
  /** Names of what was moved aside. */
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
        // Its entry for the directory above changes with the move.
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

  /** False when it stays, for the sake of what is in it, and when there is no directory of that name any more. */
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
      // While it is open nothing of it is freed: a close behind the removal would have this thread wait for that.
      directory.close()
    }
    return this.obstacles.length === before
  }

  /** Undefined when it was no directory: then it is gone. */
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
    // Somebody else has removed it.
    if (errnoOf(error) === 'ENOENT') return
    this.obstacles.push({ path: `${directory.path}/${name.toString()}`, error })
  }
}

const listed = (directory: OpenDirectory) =>
  permitted(
    async () => readdirSync(directory.at, { withFileTypes: true, encoding: 'buffer' }),
    () => directory.unlock(),
  )

/** Once more after `unlock` when the modes forbid it. */
const permitted = async <T>(act: () => Promise<T>, unlock: () => void): Promise<T> => {
  try {
    return await act()
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error
    unlock()
    return await act()
  }
}
