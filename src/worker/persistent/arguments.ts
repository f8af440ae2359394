import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { posix } from 'node:path'
import { errnoOf } from '../../base/errno.js'
import { Unsuited } from './fault.js'

/** A command line for a persistent worker. */
export interface SplitLine {
  /** The program and what it is started with. */
  readonly startup: readonly string[]
  /** Arguments that name params files, with their prefixes. */
  readonly flagFiles: readonly string[]
}

const FLAG_FILE = /^(?:@|--?flagfile=).+$/s
/** A label of another repository, which only looks like a params file. */
const LABEL = /^@.*\/\/.*$/s
const MAX_BYTES = 8 * 1024 * 1024
const MAX_FILES = 1_000

/** Undefined if the line names no params file, or nothing else. */
export const splitLine = (line: readonly string[]): SplitLine | undefined => {
  const startup = line.filter((argument) => !FLAG_FILE.test(argument))
  const flagFiles = line.filter((argument) => FLAG_FILE.test(argument))
  const isFirstAProgram = line[0] !== undefined && line[0] === startup[0]
  return isFirstAProgram && flagFiles.length > 0 ? { startup, flagFiles } : undefined
}

/**
 * The arguments of a request, as Bazel makes them: `@FILE` is replaced by the lines of the file, which may name others; everything
 * else stays as it is. Throws Unsuited for files that are not in the input root, for cycles and above 8 MiB.
 */
export const expandedArguments = (
  flagFiles: readonly string[],
  { root, workingDirectory }: { readonly root: string; readonly workingDirectory: string },
): string[] => {
  const expanded: string[] = []
  let leftBytes = MAX_BYTES
  let leftFiles = MAX_FILES
  const waiting = [...flagFiles].reverse()
  for (let argument = waiting.pop(); argument !== undefined; argument = waiting.pop()) {
    if (!argument.startsWith('@') || argument.startsWith('@@') || LABEL.test(argument) || argument === '@') {
      expanded.push(argument)
      continue
    }
    if (leftFiles-- === 0) throw new Unsuited(`its params files name more than ${MAX_FILES} others`)
    const bytes = readInside(posix.join(workingDirectory, argument.slice(1)), root, leftBytes)
    leftBytes -= bytes.length
    for (const line of linesOf(bytes).reverse()) waiting.push(line)
  }
  return expanded
}

const linesOf = (bytes: Buffer): string[] => {
  const lines = bytes.toString().split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
}

const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/** Where the open file is decides, because a process could replace names meanwhile. */
const readInside = (path: string, root: string, maxBytes: number): Buffer => {
  const shown = JSON.stringify(path)
  if (path === '..' || path.startsWith('../') || path.startsWith('/')) throw outside(shown)
  let file: number
  try {
    file = openSync(`${root}/${path}`, FLAGS)
  } catch (error) {
    throw new Unsuited(`its params file ${shown} cannot be read (${errnoOf(error)})`, { cause: error })
  }
  try {
    if (!readlinkSync(`/proc/self/fd/${file}`).startsWith(`${root}/`)) throw outside(shown)
    const stats = fstatSync(file)
    if (!stats.isFile()) throw new Unsuited(`its params file ${shown} is no file`)
    if (stats.size > maxBytes) throw new Unsuited(`its params files have more than ${MAX_BYTES} bytes`)
    const bytes = Buffer.alloc(stats.size)
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(file)
  }
}

const outside = (shown: string): Unsuited => new Unsuited(`its params file ${shown} is not in the input root`)
