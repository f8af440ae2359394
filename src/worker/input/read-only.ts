import { constants, lstatSync, realpathSync } from 'node:fs'
import { chmod, copyFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { requestedOutputs, workingDirectory } from '../../reapi/command.js'
import { boundedMap, LANES } from '../../work/bounded-map.js'
import { newName } from '../disk/session.js'
import type { InputTree } from './merkle-tree.js'

/** Which parts of an input root a command may write to; paths relative to the root. */
export interface Protection {
  /** Directories and files to mount read-only over themselves. None lies in another. */
  readonly readOnly: readonly string[]
  /** Files that the command can write to. */
  readonly writable: readonly string[]
}

/** Bubblewrap reads the list of all mounts for each mount: 100 take about 10 ms, 1,000 more than a second. */
const MAX_MOUNTS = 128

/**
 * A directory of inputs without any output is one read-only mount. In directories above an output or the working
 * directory, the command may create files, so each input there gets its own mount. Writable are inputs that are outputs
 * or lie in one, and files beyond the limit of 128 mounts. The tree and the directories above the outputs must exist.
 */
export const protectionOf = (tree: InputTree, command: Command, root: string): Protection => {
  const { outputs, open } = placesOf(command, root)
  const readOnly: string[] = []
  const writable: string[] = []
  /** How each directory of the tree may be used. A directory inside a mount needs no decision. */
  const kinds = new Map<string, 'open' | 'mount' | 'output'>([['', outputs.has('') ? 'output' : 'open']])
  const kindOf = (path: string): 'open' | 'mount' | 'output' => {
    const above = kinds.get(parentOf(path)) ?? 'open'
    if (above !== 'open') return above
    if (outputs.has(path)) return 'output'
    return open.has(path) ? 'open' : 'mount'
  }
  const isTop = (path: string): boolean => kinds.get(parentOf(path)) === 'open'
  for (const path of tree.directories) {
    const kind = kindOf(path)
    const isFull = kind === 'mount' && isTop(path) && readOnly.length === MAX_MOUNTS
    if (kind === 'mount' && isTop(path) && !isFull) readOnly.push(path)
    kinds.set(path, isFull ? 'output' : kind)
  }
  for (const { path } of tree.files) {
    const kind = kindOf(path)
    if (kind === 'mount' && !isTop(path)) continue
    if (kind === 'mount' && readOnly.length < MAX_MOUNTS) readOnly.push(path)
    else writable.push(path)
  }
  return { readOnly, writable }
}

/** Replaces files that are hard links by private copies. */
export const makePrivate = (paths: readonly string[], root: string): Promise<unknown> =>
  boundedMap(paths, LANES, async (path) => {
    const absolute = `${root}/${path}`
    const { nlink, mode } = lstatSync(absolute)
    if (nlink === 1) return
    const copy = `${dirname(absolute)}/.${newName()}`
    await copyFile(absolute, copy, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
    await chmod(copy, mode & 0o7777)
    await rename(copy, absolute)
  })

/** The outputs, and the directories in which the command may create files, after following symlinks of the tree. */
const placesOf = (
  command: Command,
  root: string,
): { readonly outputs: ReadonlySet<string>; readonly open: ReadonlySet<string> } => {
  const realRoot = realpathSync.native(root)
  const real = (path: string): string => realpathSync.native(`${root}/${path}`).slice(realRoot.length + 1)
  const outputs = new Set<string>()
  const open = new Set<string>()
  const openUpFrom = (path: string): void => {
    for (let above = path; !open.has(above); above = parentOf(above)) open.add(above)
  }
  openUpFrom(real(workingDirectory(command)))
  for (const { rootPath } of requestedOutputs(command)) {
    const above = rootPath === '' ? '' : real(parentOf(rootPath))
    openUpFrom(above)
    outputs.add(rootPath === '' ? '' : below(above, rootPath.slice(rootPath.lastIndexOf('/') + 1)))
  }
  return { outputs, open }
}

const below = (path: string, name: string): string => (path === '' ? name : `${path}/${name}`)

const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0))
