import { chmodSync, closeSync, constants, fstatSync, openSync } from 'node:fs'
import { statsOf } from './inside-root.js'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
const IS_LINUX = process.platform === 'linux'
/** Linux' own, which Node does not name: opens what may not be read too, to say where it is and nothing else. */
const O_PATH = 0o10000000
const FLAGS = (IS_LINUX ? O_PATH : O_RDONLY) | O_DIRECTORY | O_NOFOLLOW

/**
 * A directory held open: the same one whatever happens to its name, as long as paths begin with `at`. Names are looked up
 * in it alone, so nothing that was put in place of a directory above can lead anywhere else. Where there is no
 * `/proc/self/fd`, which is Linux', `at` is the path, and this protects from nothing.
 */
export class OpenDirectory {
  /** Where it was when it was opened: for messages and for other processes. */
  readonly path: string
  /** Where this process finds it, until it is closed. */
  readonly at: string
  readonly #file: number

  private constructor(path: string, file: number) {
    this.path = path
    this.#file = file
    this.at = IS_LINUX ? `/proc/self/fd/${file}` : path
  }

  /** Throws ENOTDIR or ELOOP when the last name of the path is no directory; that name is not followed. */
  static open(path: string): OpenDirectory {
    return new OpenDirectory(path, openSync(path, FLAGS))
  }

  /** A directory in this one. Throws as `open` does. */
  child(name: string | Buffer): OpenDirectory {
    return new OpenDirectory(`${this.path}/${name}`, openSync(this.below(name), FLAGS))
  }

  /** The path of an entry for calls of this process. Names need not be UTF-8. */
  below(name: string | Buffer): string | Buffer {
    return typeof name === 'string' ? `${this.at}/${name}` : Buffer.concat([Buffer.from(`${this.at}/`), name])
  }

  /** Whether its path leads to it still, and not to something in its place. */
  isInPlace(): boolean {
    const now = statsOf(this.path)
    const { dev, ino, nlink } = fstatSync(this.#file)
    return now !== undefined && nlink > 0 && now.dev === dev && now.ino === ino
  }

  /** Gives this process all rights in it. */
  unlock(): void {
    chmodSync(this.at, 0o700)
  }

  close(): void {
    closeSync(this.#file)
  }
}
