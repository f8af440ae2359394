import { StatusError } from '../base/status-error.js'
import { codec } from '../proto/codec.js'
import { Fields } from '../proto/fields.js'
import type { NodeProperties } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../reapi/digest.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import type { TimeSlices } from '../work/time-slices.js'

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

/** Entries between the first and the last difference of a pair of directories; more are not compared. */
const MAX_DIFFERING = 262_144

/**
 * The names about which two encoded Directories differ, in the order of their entries. Decodes only what lies between the
 * first and the last difference: a directory of 100,000 files that differs in one is compared in milliseconds. Rejects
 * with INVALID_ARGUMENT for bytes that are not a Directory, and with RESOURCE_EXHAUSTED if too much lies between.
 */
export const entriesThatDiffer = async (
  before: Buffer,
  now: Buffer,
  digestFunction: DigestFunction,
  slices: TimeSlices,
): Promise<{ readonly changes: readonly EntryChange[]; readonly decodedCount: number }> => {
  const left = await EncodedEntries.of(before, digestFunction, slices)
  const right = await EncodedEntries.of(now, digestFunction, slices)
  const { first, same } = await sameEnds(left, right, slices)
  const between = left.count + right.count - 2 * (first + same)
  if (between > MAX_DIFFERING)
    throw new StatusError(
      'RESOURCE_EXHAUSTED',
      `${between} entries lie between the first and the last difference, and ${MAX_DIFFERING} are compared at most`,
    )
  const removed = await left.decode(first, left.count - same)
  const added = await right.decode(first, right.count - same)
  const changes: EntryChange[] = []
  for (const [name, entry] of removed) {
    const other = added.get(name)
    if (other === undefined) changes.push({ name, before: entry, now: undefined })
    else if (!isSame(entry, other)) changes.push({ name, before: entry, now: other })
  }
  for (const [name, entry] of added) if (!removed.has(name)) changes.push({ name, before: undefined, now: entry })
  return { changes, decodedCount: between }
}

/** How many entries two directories have in common at the begin, and behind that at the end. */
const sameEnds = async (left: EncodedEntries, right: EncodedEntries, slices: TimeSlices) => {
  const leastCount = Math.min(left.count, right.count)
  let first = 0
  while (first < leastCount && left.isEqual(first, right, first)) {
    first += 1
    if (first % PART === 0) await slices.step()
  }
  let same = 0
  while (same < leastCount - first && left.isEqual(left.count - 1 - same, right, right.count - 1 - same)) {
    same += 1
    if (same % PART === 0) await slices.step()
  }
  return { first, same }
}

/** Field numbers of a Directory. */
const FILE = 1
const SUBDIRECTORY = 2
const SYMLINK = 3
/** Entries that are looked at between two steps of time slices. */
const PART = 256

/** Where the entries of a Directory are in its bytes. A million entries take some ten MB beside these. */
export class EncodedEntries {
  readonly #bytes: Buffer
  readonly #function: DigestFunction
  readonly #slices: TimeSlices
  readonly #numbers: number[] = []
  /** Begin and end of each. */
  readonly #ranges: number[] = []

  private constructor(bytes: Buffer, digestFunction: DigestFunction, slices: TimeSlices) {
    this.#bytes = bytes
    this.#function = digestFunction
    this.#slices = slices
  }

  /** Rejects with INVALID_ARGUMENT for bytes that are not a Directory. */
  static async of(bytes: Buffer, digestFunction: DigestFunction, slices: TimeSlices): Promise<EncodedEntries> {
    const entries = new EncodedEntries(bytes, digestFunction, slices)
    const fields = new Fields(bytes, DIRECTORY)
    while (fields.next()) {
      if (fields.number > SYMLINK) continue
      entries.#numbers.push(fields.number)
      entries.#ranges.push(fields.from, fields.to)
      if (entries.count % PART === 0) await slices.step()
    }
    return entries
  }

  get count(): number {
    return this.#numbers.length
  }

  get fileCount(): number {
    return this.#numbers.reduce((sum, number) => (number === FILE ? sum + 1 : sum), 0)
  }

  isEqual(index: number, other: EncodedEntries, otherIndex: number): boolean {
    if (this.#numbers[index] !== other.#numbers[otherIndex]) return false
    const [from, to] = this.#range(index)
    const [otherFrom, otherTo] = other.#range(otherIndex)
    return this.#bytes.compare(other.#bytes, otherFrom, otherTo, from, to) === 0
  }

  /** The entries from one index up to another, by name, in the order of the directory. */
  async decode(from = 0, to = this.count): Promise<ReadonlyMap<string, TreeEntry>> {
    const entries = new Map<string, TreeEntry>()
    for (let index = from; index < Math.min(to, this.count); index++) {
      const [name, entry] = this.#entry(index)
      entries.set(name, entry)
      if (index % PART === 0) await this.#slices.step()
    }
    return entries
  }

  /** The digest of a subdirectory; undefined if there is none of this name. */
  async subdirectory(name: string): Promise<Digest | undefined> {
    for (const [index, number] of this.#numbers.entries()) {
      if (index % PART === 0) await this.#slices.step()
      if (number !== SUBDIRECTORY) continue
      const [found, { digest }] = this.#entry(index)
      if (found === name) return digest
    }
    return undefined
  }

  #entry(index: number): readonly [string, TreeEntry] {
    const [start, end] = this.#range(index)
    return decodeEntry(this.#numbers[index] ?? 0, this.#bytes.subarray(start, end), this.#function)
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
