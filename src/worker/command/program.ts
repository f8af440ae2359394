import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** The default of glibc's execvp for programs without a PATH. */
export const DEFAULT_PATH = '/bin:/usr/bin'

export interface ProgramPlaces {
  /** Absolute. */
  readonly cwd: string
  /** PATH of the command; undefined if it has none. */
  readonly path: string | undefined
  /** What the command sees as `/`; empty for the file system of this machine. */
  readonly root: string
}

/**
 * The program of a command line as it is to be started. A name without a slash is looked up in PATH, and if it is not
 * there, in the working directory: Bazel names scripts of repository rules like that, and finds them there itself.
 */
export const programToStart = (name: string, { cwd, path = DEFAULT_PATH, root }: ProgramPlaces): string => {
  if (name === '' || name.includes('/') || !isExecutable(`${cwd}/${name}`)) return name
  const folders = path.split(':').map((folder) => (folder.startsWith('/') ? `${root}${folder}` : resolve(cwd, folder)))
  return folders.some((folder) => isExecutable(`${folder}/${name}`)) ? name : `./${name}`
}

/** A program of this machine in the folders of a PATH; undefined if it is in none of them. */
export const programIn = (path: string, name: string): string | undefined =>
  path
    .split(':')
    .map((folder) => `${folder}/${name}`)
    .find(isExecutable)

const isExecutable = (path: string): boolean => {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // Absent, or not reachable: the system then says why it does not start.
    return false
  }
}
