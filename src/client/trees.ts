import { getBytes, type Store } from '../blobs/store.js'
import { codec } from '../proto/codec.js'
import type { Directory } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../reapi/digest.js'
import type { Call } from '../rpc/call.js'
import { boundedMap, LANES } from '../work/bounded-map.js'

const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')

const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024

/** One line of a directory tree. */
export interface TreeEntry {
  readonly path: string
  readonly kind: 'directory' | 'file' | 'executable' | 'symlink'
  /** Absent for a symlink. */
  readonly digest?: Digest
  /** Of a symlink. */
  readonly target?: string
}

/**
 * Every entry below a directory, each folder before its content. A directory that occurs twice is read once. Directories
 * of one level are read together.
 */
export async function* treeEntries(cas: Store, root: Digest, call: Call): AsyncGenerator<TreeEntry> {
  const known = new Map<string, Promise<Directory>>()
  const read = (digest: Digest): Promise<Directory> => {
    const reading =
      known.get(digest.key) ??
      getBytes(cas, digest, MAX_DIRECTORY_BYTES, call).then((bytes) => directoryCodec.decode(bytes))
    known.set(digest.key, reading)
    return reading
  }
  async function* below(digest: Digest, prefix: string): AsyncGenerator<TreeEntry> {
    const { files, directories, symlinks } = await read(digest)
    const parse = (message: Parameters<typeof Digest.parse>[0]): Digest => Digest.parse(message, digest.function)
    for (const { name, digest: file, isExecutable } of files)
      yield { path: prefix + name, kind: isExecutable ? 'executable' : 'file', digest: parse(file) }
    for (const { name, target } of symlinks) yield { path: prefix + name, kind: 'symlink', target }
    await boundedMap(directories, LANES, ({ digest: each }) => read(parse(each)))
    for (const { name, digest: each } of directories) {
      yield { path: `${prefix}${name}/`, kind: 'directory', digest: parse(each) }
      yield* below(parse(each), `${prefix}${name}/`)
    }
  }
  yield* below(root, '')
}
