import { randomUUID } from 'node:crypto'
import { type Digest, digestOf } from '../exam/exam.js'
import { codec, type Input, type Output } from '../proto/codec.js'

const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')

export type Directory = Output<'build.bazel.remote.execution.v2.Directory'>

export type InputNode =
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly isExecutable: boolean }
  | { readonly kind: 'directory'; readonly nodes: InputTree }
  | { readonly kind: 'symlink'; readonly target: string }

/** The entries of a directory by name. */
export interface InputTree {
  readonly [name: string]: InputNode
}

export const file = (content: string | Buffer, isExecutable = false): InputNode => ({
  kind: 'file',
  bytes: Buffer.from(content),
  isExecutable,
})

export const symlink = (target: string): InputNode => ({ kind: 'symlink', target })

export const directory = (nodes: InputTree): Extract<InputNode, { kind: 'directory' }> => ({ kind: 'directory', nodes })

/** Distinct directories of about 100 KiB each: few entries with long targets, which are cheap to parse. */
export const wideTree = (count: number): InputTree => {
  const run = randomUUID()
  const link = (at: number, index: number): InputNode => symlink(`${run}/${at}/${index}/`.padEnd(4_000, 'x'))
  const nodes = Array.from({ length: count }, (_, at): [string, InputNode] => [
    `d${at}`,
    directory(Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`l${index}`, link(at, index)]))),
  ])
  return Object.fromEntries(nodes)
}

export interface PackedTree {
  readonly digest: Digest
  /** The Directory itself is the first blob; the blobs of files and subdirectories follow. */
  readonly blobs: readonly Buffer[]
}

/** The canonical order of names is by bytes; JavaScript's string order differs above U+FFFF. */
export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** The blobs of a directory and everything below it, in canonical form. */
export const packed = ({ nodes }: { readonly nodes: InputTree }): PackedTree => {
  const blobs: Buffer[] = []
  const files: Input<'build.bazel.remote.execution.v2.FileNode'>[] = []
  const directories: Input<'build.bazel.remote.execution.v2.DirectoryNode'>[] = []
  const symlinks: Input<'build.bazel.remote.execution.v2.SymlinkNode'>[] = []
  for (const [name, node] of Object.entries(nodes).sort(([a], [b]) => byBytes(a, b))) {
    if (node.kind === 'file') {
      files.push({ name, digest: digestOf(node.bytes), isExecutable: node.isExecutable })
      blobs.push(node.bytes)
    } else if (node.kind === 'symlink') {
      symlinks.push({ name, target: node.target })
    } else if (node.kind === 'directory') {
      const below = packed(node)
      directories.push({ name, digest: below.digest })
      blobs.push(...below.blobs)
    }
  }
  const own = directoryCodec.encode({ files, directories, symlinks })
  return { digest: digestOf(own), blobs: [own, ...blobs] }
}

/** Encodes a Directory as given, canonical or not. */
export const rawDirectory = (message: Input<'build.bazel.remote.execution.v2.Directory'>): Buffer =>
  directoryCodec.encode(message)

export const decodeDirectory = (bytes: Uint8Array): Directory => directoryCodec.decode(bytes)
