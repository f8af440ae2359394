import { StatusError } from '../base/status-error.js'
import { codec } from '../proto/codec.js'
import type {
  Digest as DigestMessage,
  DirectoryInput,
  NodeProperties,
} from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from './digest.js'
import type { DigestFunction } from './digest-function.js'

const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')

/** A Directory with safe file names and valid digests. */
export interface Directory {
  readonly files: readonly FileEntry[]
  readonly directories: readonly DirectoryEntry[]
  readonly symlinks: readonly SymlinkEntry[]
}

export interface FileEntry {
  readonly name: string
  readonly digest: Digest
  readonly isExecutable: boolean
  readonly nodeProperties: NodeProperties | null
}

export interface DirectoryEntry {
  readonly name: string
  readonly digest: Digest
}

export interface SymlinkEntry {
  readonly name: string
  readonly target: string
}

export const EMPTY_DIRECTORY: Directory = { files: [], directories: [], symlinks: [] }

/**
 * Parses a Directory blob. Throws INVALID_ARGUMENT for bytes that do not decode, for names that are empty,
 * `.` or `..` or contain a slash or NUL, and for duplicate names. `path` is the directory's path in the input
 * root, for the error.
 */
export const parseDirectory = (bytes: Uint8Array, digestFunction: DigestFunction, path: string): Directory => {
  const message = decode(bytes, path)
  const names = new Set<string>()
  const checked = (name: string): string => {
    if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) {
      throw invalid(path, `${JSON.stringify(name)} is not a valid name, expected one path segment`)
    }
    if (names.has(name)) throw invalid(path, `${JSON.stringify(name)} occurs twice, expected unique names`)
    names.add(name)
    return name
  }
  const digestOf = (digest: DigestMessage | null, name: string): Digest =>
    Digest.parse(digest, digestFunction, () => `input ${JSON.stringify(join(path, name))}`)
  return {
    files: message.files.map(({ name, digest, isExecutable, nodeProperties }) => ({
      name: checked(name),
      digest: digestOf(digest, name),
      isExecutable,
      nodeProperties,
    })),
    directories: message.directories.map(({ name, digest }) => ({
      name: checked(name),
      digest: digestOf(digest, name),
    })),
    symlinks: message.symlinks.map(({ name, target }) => {
      if (target !== '' && !target.includes('\0')) return { name: checked(name), target }
      throw invalid(path, `symlink ${JSON.stringify(name)} has target ${JSON.stringify(target)}, expected a path`)
    }),
  }
}

/** Encodes a Directory in canonical form: entries sorted by the UTF-8 bytes of their names (REAPI Directory). */
export const encodeDirectory = (directory: DirectoryInput): Buffer => directoryCodec.encode(canonical(directory))

export const canonical = (directory: DirectoryInput): DirectoryInput => ({
  files: [...(directory.files ?? [])].sort(byName),
  directories: [...(directory.directories ?? [])].sort(byName),
  symlinks: [...(directory.symlinks ?? [])].sort(byName),
  nodeProperties: directory.nodeProperties ?? null,
})

/** The order of UTF-8 bytes. It differs from JavaScript's order of strings only if surrogates occur. */
export const compareUtf8 = (a: string, b: string): number => {
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : a > b ? 1 : 0
}

const SURROGATE = /[\ud800-\udfff]/

const byName = (a: { readonly name?: string | undefined }, b: { readonly name?: string | undefined }): number =>
  compareUtf8(a.name ?? '', b.name ?? '')

const decode = (bytes: Uint8Array, path: string) => {
  try {
    return directoryCodec.decode(bytes)
  } catch (error) {
    throw StatusError.from(error).withPrefix(`input directory ${JSON.stringify(path)}`)
  }
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}/${name}`)

const invalid = (path: string, problem: string): StatusError =>
  new StatusError('INVALID_ARGUMENT', `input directory ${JSON.stringify(path)}: ${problem}`)
