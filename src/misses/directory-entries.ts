import { codec } from '../proto/codec.js'
import { Fields } from '../proto/fields.js'
import type { NodeProperties } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../reapi/digest.js'
import type { DigestFunction } from '../reapi/digest-function.js'

const fileCodec = codec('build.bazel.remote.execution.v2.FileNode')
const directoryCodec = codec('build.bazel.remote.execution.v2.DirectoryNode')
const symlinkCodec = codec('build.bazel.remote.execution.v2.SymlinkNode')
const DIRECTORY = 'build.bazel.remote.execution.v2.Directory'

/** What a Directory says about one name. */
export interface TreeEntry {
  readonly kind: 'file' | 'directory' | 'symlink'
  /** Of a file or directory. */
  readonly digest?: Digest
  readonly isExecutable?: boolean
  /** Of a symlink. */
  readonly target?: string
  /** Node properties, as `name=value`. */
  readonly properties?: readonly string[]
}

/** What two directories say about a name; undefined on the side that does not have it. */
export interface EntryChange {
  readonly name: string
  readonly before: TreeEntry | undefined
  readonly now: TreeEntry | undefined
}

/**
 * The names about which two encoded Directories differ, in the order of their entries. Decodes only what lies between the
 * first and the last difference: a directory of 100,000 files that differs in one is compared in milliseconds. Throws
 * INVALID_ARGUMENT for bytes that are not a Directory.
 */
export const entriesThatDiffer = (
  before: Buffer,
  now: Buffer,
  digestFunction: DigestFunction,
): readonly EntryChange[] => {
  const left = new EncodedEntries(before)
  const right = new EncodedEntries(now)
  const leastCount = Math.min(left.count, right.count)
  let first = 0
  while (first < leastCount && left.isEqual(first, right, first)) first += 1
  let same = 0
  while (same < leastCount - first && left.isEqual(left.count - 1 - same, right, right.count - 1 - same)) same += 1
  const removed = left.decode(first, left.count - same, digestFunction)
  const added = right.decode(first, right.count - same, digestFunction)
  const changes: EntryChange[] = []
  for (const [name, entry] of removed) {
    const other = added.get(name)
    if (other === undefined) changes.push({ name, before: entry, now: undefined })
    else if (!isSame(entry, other)) changes.push({ name, before: entry, now: other })
  }
  for (const [name, entry] of added) if (!removed.has(name)) changes.push({ name, before: undefined, now: entry })
  return changes
}

/** All entries of an encoded Directory, by name. */
export const entriesOf = (directory: Buffer, digestFunction: DigestFunction): ReadonlyMap<string, TreeEntry> => {
  const entries = new EncodedEntries(directory)
  return entries.decode(0, entries.count, digestFunction)
}

/** Field numbers of a Directory; 1 is a file. */
const SUBDIRECTORY = 2
const SYMLINK = 3

/** Where the entries of a Directory are in its bytes. */
class EncodedEntries {
  readonly #bytes: Buffer
  readonly #numbers: number[] = []
  /** Begin and end of each. */
  readonly #ranges: number[] = []

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    const fields = new Fields(bytes, DIRECTORY)
    while (fields.next()) {
      if (fields.number > SYMLINK) continue
      this.#numbers.push(fields.number)
      this.#ranges.push(fields.from, fields.to)
    }
  }

  get count(): number {
    return this.#numbers.length
  }

  isEqual(index: number, other: EncodedEntries, otherIndex: number): boolean {
    if (this.#numbers[index] !== other.#numbers[otherIndex]) return false
    const [from, to] = this.#range(index)
    const [otherFrom, otherTo] = other.#range(otherIndex)
    return this.#bytes.compare(other.#bytes, otherFrom, otherTo, from, to) === 0
  }

  decode(from: number, to: number, digestFunction: DigestFunction): Map<string, TreeEntry> {
    const entries = new Map<string, TreeEntry>()
    for (let index = from; index < to; index++) {
      const [start, end] = this.#range(index)
      const [name, entry] = decodeEntry(this.#numbers[index] ?? 0, this.#bytes.subarray(start, end), digestFunction)
      entries.set(name, entry)
    }
    return entries
  }

  #range(index: number): readonly [number, number] {
    return [this.#ranges[index * 2] as number, this.#ranges[index * 2 + 1] as number]
  }
}

const decodeEntry = (number: number, bytes: Buffer, digestFunction: DigestFunction): readonly [string, TreeEntry] => {
  if (number === SYMLINK) {
    const { name, target, nodeProperties } = symlinkCodec.decode(bytes)
    return [name, { kind: 'symlink', target, ...propertiesOf(nodeProperties) }]
  }
  if (number === SUBDIRECTORY) {
    const { name, digest } = directoryCodec.decode(bytes)
    return [name, { kind: 'directory', digest: digestOf(digest, digestFunction, name) }]
  }
  const { name, digest, isExecutable, nodeProperties } = fileCodec.decode(bytes)
  const entry = { digest: digestOf(digest, digestFunction, name), isExecutable, ...propertiesOf(nodeProperties) }
  return [name, { kind: 'file', ...entry }]
}

const digestOf = (message: { hash: string; sizeBytes: number } | null, digestFunction: DigestFunction, name: string) =>
  Digest.parse(message, digestFunction, () => `the digest of ${JSON.stringify(name)}`)

const propertiesOf = (properties: NodeProperties | null): Pick<TreeEntry, 'properties'> => {
  if (properties === null) return {}
  const { properties: named, mtime, unixMode } = properties
  const texts = named.map(({ name, value }) => `${name}=${value}`)
  if (mtime !== null) texts.push(`mtime=${mtime.seconds}.${String(mtime.nanos).padStart(9, '0')}`)
  if (unixMode !== null) texts.push(`unix_mode=${unixMode.value.toString(8)}`)
  return texts.length === 0 ? {} : { properties: texts }
}

const isSame = (one: TreeEntry, other: TreeEntry): boolean =>
  one.kind === other.kind &&
  one.digest?.key === other.digest?.key &&
  one.isExecutable === other.isExecutable &&
  one.target === other.target &&
  (one.properties ?? []).join('\0') === (other.properties ?? []).join('\0')
