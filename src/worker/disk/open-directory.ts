import { chmodSync, closeSync, constants, fstatSync, openSync } from 'node:fs'
import { statsOf } from './inside-root.js'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
const IS_LINUX = process.platform === 'linux'
/** A flag of Linux that Node does not name. Opens a path only as a location, also without permission to read. */
const O_PATH = 0o10000000
const FLAGS = (IS_LINUX ? O_PATH : O_RDONLY) | O_DIRECTORY | O_NOFOLLOW

/**
 * A directory held open. Paths below `at` stay in the same directory, whatever happens to its name. Names are looked up
 * only in it, so replacing a parent directory cannot redirect them. Without `/proc/self/fd` of Linux, `at` is the plain
 * path and gives no protection.
 */
export class OpenDirectory {
  /** Its path when it was opened, for messages and other processes. */
  readonly path: string
  /** Its path for this process, valid until `close`. */
  readonly at: string
  readonly #file: number

  private constructor(path: string, file: number) {
    this.path = path
    this.#file = file
    this.at = IS_LINUX ? `/proc/self/fd/${file}` : path
  }

  /** Throws ENOTDIR or ELOOP if the last name is not a directory. A symlink there is not followed. */
  static open(path: string): OpenDirectory {
    return new OpenDirectory(path, openSync(path, FLAGS))
  }

  /** A directory in this one. Throws like `open`. */
  child(name: string | Buffer): OpenDirectory {
    return new OpenDirectory(`${this.path}/${name}`, openSync(this.below(name), FLAGS))
  }

  /** The path of an entry, for calls of this process. Names need not be UTF-8. */
  below(name: string | Buffer): string | Buffer {
    return typeof name === 'string' ? `${this.at}/${name}` : Buffer.concat([Buffer.from(`${this.at}/`), name])
  }

  /** Whether its path still leads to it. */
  isStillThere(): boolean {
    const now = statsOf(this.path)
    const { dev, ino, nlink } = fstatSync(this.#file)
    return now !== undefined && nlink > 0 && now.dev === dev && now.ino === ino
  }

  /** Gives this process all permissions in it. */
  unlock(): void {
    chmodSync(this.at, 0o700)
  }

  close(): void {
    closeSync(this.#file)
  }
}
