import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { DirectoryInput } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../../src/reapi/digest.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'
import { encodeDirectory } from '../../../src/reapi/directory.js'
import type { FileStore } from '../file-store.js'

export type Pick = (below: number) => number

/** Numbers below a bound, the same for each start with this seed. */
export const numbersFrom = (seed: number): Pick => {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** So few names that trees share many, as other kinds of entries too. */
const NAMES = ['a', 'b', 'c', 'd', 'é', 'x y']
const CONTENTS = ['', 'one', 'two', 'three', 'x'.repeat(10_000)]

/** Stores a random tree and returns the digest of its root. */
export const randomTree = (pick: Pick, store: FileStore, depth = 2): Digest => {
  const directory: Entries = { files: [], directories: [], symlinks: [] }
  for (const name of NAMES) {
    const kind = pick(8)
    if (kind < 3) directory.files.push(randomFile(name, pick, store))
    else if (kind < 5 && depth > 0)
      directory.directories.push({ name, digest: randomTree(pick, store, depth - 1).toMessage() })
    else if (kind === 5) directory.symlinks.push({ name, target: `${NAMES[pick(NAMES.length)]}/target` })
  }
  return kept(encodeDirectory(directory), store)
}

interface Entries {
  files: NonNullable<DirectoryInput['files']>[number][]
  directories: NonNullable<DirectoryInput['directories']>[number][]
  symlinks: NonNullable<DirectoryInput['symlinks']>[number][]
}

/** Stores bytes unless they are there: a file that is written again is no longer the one that roots link to. */
const kept = (bytes: Buffer, store: FileStore): Digest => {
  const digest = Digest.of(bytes, digestFunctions.SHA256)
  return store.has(digest) ? digest : store.keep(bytes)
}

const randomFile = (name: string, pick: Pick, store: FileStore) => {
  const digest = kept(Buffer.from(CONTENTS[pick(CONTENTS.length)] as string), store).toMessage()
  const properties = [{ name: 'bazel_tool_input', value: '' }]
  const nodeProperties = [
    { properties },
    { unixMode: { value: 0o640 }, mtime: { seconds: 1_000_000_000 + pick(2), nanos: 0 } },
  ][pick(12)]
  return { name, digest, isExecutable: pick(4) === 0, ...(nodeProperties && { nodeProperties }) }
}

/** Everything below a folder with what a command can see of it; a linked file with its inode, so that it is the store's. */
export const looks = (folder: string, at = ''): string[] =>
  readdirSync(join(folder, at))
    .sort()
    .flatMap((name) => {
      const path = join(at, name)
      const stats = lstatSync(join(folder, path))
      const mode = (stats.mode & 0o7777).toString(8)
      if (stats.isDirectory()) return [`${path}/ ${mode}`, ...looks(folder, path)]
      if (stats.isSymbolicLink()) return [`${path} -> ${readlinkSync(join(folder, path))}`]
      const isOwn = (stats.mode & 0o200) !== 0
      const identity = stats.nlink > 1 ? stats.ino : `its own${isOwn ? ` of ${stats.mtimeMs}` : ''}`
      return [`${path} ${mode} ${readFileSync(join(folder, path), 'utf8').slice(0, 20)} ${stats.size} ${identity}`]
    })
