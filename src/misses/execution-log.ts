import { StatusError } from '../base/status-error.js'
import { codec } from '../proto/codec.js'
import type { Entry, File } from '../proto/generated/remexec.execlog.v1.js'
import { Digest } from '../reapi/digest.js'
import { digestFunctions } from '../reapi/digest-function.js'
import { type Call, cancellation } from '../rpc/call.js'
import { ZstdDecoder } from '../stream/compression/zstd.js'
import { TimeSlices } from '../work/time-slices.js'
import type { TreeEntry } from './directory-entries.js'
import type { TreeChange, TreeDifference } from './tree-difference.js'

const entryCodec = codec('remexec.execlog.v1.Entry')

export interface LogBounds {
  /** After decompression. */
  readonly maxBytes: number
  readonly maxEntries: number
}

/** A log of this size takes some hundred MB while it is read. */
const BOUNDS: LogBounds = { maxBytes: 256 * 1024 * 1024, maxEntries: 2_000_000 }
const SLICE_MS = 10
/** Pieces of a longer one would be copied too often. A directory of 40,000 files is that long. */
const MAX_ENTRY_BYTES = 4 * 1024 * 1024
const EMPTY: TreeEntry = { kind: 'file' }

interface InputSet {
  readonly inputs: readonly number[]
  readonly sets: readonly number[]
}

/**
 * The inputs of the spawns of one build, from the compact execution log that Bazel writes. It names each input file, which
 * a client without remote execution tells in no other way. Spawns that hit Bazel's own action cache are not in it.
 */
export class ExecutionLog {
  #hashName = 'SHA-256'
  readonly #inputs = new Map<number, readonly (readonly [path: string, entry: TreeEntry])[]>()
  readonly #sets = new Map<number, InputSet>()
  /** The input set of each action. */
  readonly #spawns = new Map<string, number>()
  readonly #slices = new TimeSlices(SLICE_MS)

  private constructor() {}

  /** INVALID_ARGUMENT if the bytes are no such log, RESOURCE_EXHAUSTED if it is too large. */
  static async read(compressed: Buffer, call: Call, bounds: Partial<LogBounds> = {}): Promise<ExecutionLog> {
    const log = new ExecutionLog()
    const { maxBytes, maxEntries } = { ...BOUNDS, ...bounds }
    let entryCount = 0
    for (const entry of entriesIn(compressed, maxBytes)) {
      if (++entryCount > maxEntries) throw tooLarge()
      log.#add(entryCodec.decode(entry))
      if (call.signal.aborted) throw cancellation(call.signal)
      await log.#slices.step()
    }
    return log
  }

  /** The input files of an action by path; undefined if the log does not have the action. */
  inputsOf(action: Digest): ReadonlyMap<string, TreeEntry> | undefined {
    const root = this.#spawns.get(keyOf(action.hash, action.sizeBytes))
    if (root === undefined) return undefined
    const found = new Map<string, TreeEntry>()
    const seen = new Set<number>()
    const waiting = [root]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      const { inputs = [], sets = [] } = this.#sets.get(next) ?? {}
      for (const input of inputs) for (const [path, entry] of this.#inputs.get(input) ?? []) found.set(path, entry)
      waiting.push(...sets)
    }
    return found
  }

  #add(entry: Entry): void {
    const { id, type } = entry
    if (type === 'invocation' && entry.invocation !== null) this.#hashName = entry.invocation.hashFunctionName
    if (type === 'file' && entry.file !== null) this.#inputs.set(id, [this.#file(entry.file.path, entry.file)])
    if (type === 'directory' && entry.directory !== null) {
      const { path, files } = entry.directory
      this.#inputs.set(
        id,
        files.map((file) => this.#file(`${path}/${file.path}`, file)),
      )
    }
    if (type === 'symlink' && entry.symlink !== null) {
      const { path, targetPath } = entry.symlink
      this.#inputs.set(id, [[path, { kind: 'symlink', target: targetPath }]])
    }
    if (type === 'inputSet' && entry.inputSet !== null) {
      const { fileIds, directoryIds, symlinkIds, inputIds, transitiveSetIds } = entry.inputSet
      this.#sets.set(id, { inputs: [...fileIds, ...directoryIds, ...symlinkIds, ...inputIds], sets: transitiveSetIds })
    }
    if (type === 'spawn' && entry.spawn?.digest != null) {
      const { digest, inputSetId } = entry.spawn
      this.#spawns.set(keyOf(digest.hash, digest.sizeBytes), inputSetId)
    }
  }

  #file(path: string, { digest }: File): readonly [string, TreeEntry] {
    const digestFunction = this.#hashName === 'BLAKE3' ? digestFunctions.BLAKE3 : digestFunctions.SHA256
    return [path, digest === null ? EMPTY : { kind: 'file', digest: Digest.parse(digest, digestFunction, 'an input') }]
  }
}

const keyOf = (hash: string, sizeBytes: number): string => `${hash}-${sizeBytes}`

const tooLarge = (): StatusError =>
  new StatusError('RESOURCE_EXHAUSTED', 'the execution log of the build is too large to be read here')

const invalid = (reason: string): StatusError =>
  new StatusError('INVALID_ARGUMENT', `the execution log of the build cannot be read: ${reason}`)

/** The encoded entries of a compressed log. */
function* entriesIn(compressed: Buffer, maxBytes: number): Generator<Buffer> {
  const decoder = new ZstdDecoder(invalid)
  let rest: Buffer = Buffer.alloc(0)
  let readBytes = 0
  try {
    for (const piece of decoder.decode(compressed)) {
      readBytes += piece.length
      if (readBytes > maxBytes) throw tooLarge()
      // The piece is copied: the decoder may use its memory again.
      rest = Buffer.concat([rest, piece])
      let at = 0
      for (let next = entryAt(rest, at); next !== undefined; next = entryAt(rest, at)) {
        yield rest.subarray(next.from, next.to)
        at = next.to
      }
      rest = rest.subarray(at)
    }
    if (rest.length > 0 || decoder.isInside) throw invalid('it ends inside of an entry')
  } finally {
    decoder.close()
  }
}

/** Where the entry at a position is, behind its length; undefined if it is not complete. */
const entryAt = (bytes: Buffer, start: number): { readonly from: number; readonly to: number } | undefined => {
  let length = 0
  for (let at = start, factor = 1; at < bytes.length; at++, factor *= 128) {
    const byte = bytes[at] as number
    length += (byte & 127) * factor
    if (length > MAX_ENTRY_BYTES) throw invalid(`an entry has more than ${MAX_ENTRY_BYTES} bytes`)
    if (byte < 128) return at + 1 + length <= bytes.length ? { from: at + 1, to: at + 1 + length } : undefined
  }
  return undefined
}

/** The inputs that differ between two actions, sorted by path. */
export const compareInputFiles = (
  before: ReadonlyMap<string, TreeEntry>,
  now: ReadonlyMap<string, TreeEntry>,
  maxChanges: number,
): TreeDifference => {
  const paths = [...new Set([...before.keys(), ...now.keys()])].sort()
  const changes = paths
    .map((path): TreeChange => ({ path, before: before.get(path), now: now.get(path) }))
    .filter(
      ({ before: was, now: is }) => was?.digest?.key !== is?.digest?.key || was?.target !== is?.target || !was || !is,
    )
  return { changes: changes.slice(0, maxChanges), unread: [], isComplete: changes.length <= maxChanges }
}
