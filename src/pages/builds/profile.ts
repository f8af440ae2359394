import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { isStatus } from '../../base/status-error.js'
import type { FileRef } from '../../builds/detail/file-ref.js'
import { chunksOfBlob } from '../../content/read-blob.js'
import { TimeSlices } from '../../work/time-slices.js'
import type { Visit } from '../page.js'
import { blobOf, type CasOf } from './blob-text.js'
import { TraceEvents } from './trace-events.js'

/** One piece of work in a profile of Bazel, in milliseconds since its begin. */
export interface Work {
  readonly lane: number
  readonly name: string
  readonly kind: string
  readonly fromMs: number
  readonly tookMs: number
}

export interface Profile {
  /** The threads with work and their names: the critical path, then the busiest. */
  readonly lanes: readonly { readonly id: number; readonly name: string }[]
  readonly works: readonly Work[]
  readonly endMs: number
  /** Work that was too short or too much to be shown. */
  readonly leftOut: number
}

const MAX_PACKED_BYTES = 32 * 1024 * 1024
const MAX_PLAIN_BYTES = 128 * 1024 * 1024
/** What is looked at between two looks at the clock. */
const PIECE_BYTES = 32 * 1024
const SLICE_MS = 5
const MAX_LANES = 32
/** Threads that are known while a profile is read. Bazel has hundreds. */
const MAX_KNOWN_LANES = 4096
const MAX_WORKS = 1500
/** The longest, of all threads: those of threads that are not shown are dropped at the end. */
const MAX_KNOWN_WORKS = 4 * MAX_WORKS
const MAX_NAME = 200
/** The thread that Bazel invents for the critical path. */
const CRITICAL = 'Critical Path'

const GZIP = Buffer.of(0x1f, 0x8b)

type Chunks = AsyncIterable<Buffer> | Iterable<Buffer>

const TOO_LARGE = 'The profile is too large to be shown here.'

/** One for all readers, so that many of them do not make a turn longer. */
const slices = new TimeSlices(SLICE_MS)

/** The profile of a build, if it was uploaded to a CAS that the reader may read; otherwise why there is none. */
export const profileOf = async (file: FileRef, visit: Visit, casOf: CasOf): Promise<Profile | string> => {
  const blob = blobOf(file)
  const cas = blob && casOf(blob.instance)
  if (blob === undefined || cas === undefined) return 'The profile was not uploaded.'
  if (!visit.may('read_cas', blob.instance)) return 'You may not read the CAS that has the profile.'
  if (blob.digest.sizeBytes > MAX_PACKED_BYTES) return TOO_LARGE
  visit.request.instanceName = blob.instance
  try {
    return await profileIn(chunksOfBlob(cas, blob.digest, visit.request), visit.request.signal)
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) return 'The profile was not uploaded, or is no longer stored.'
    throw error
  }
}

/**
 * The profile in a file, plain or packed with gzip, or why there is none. Takes the next chunk when it has looked at the one before,
 * keeps none, and yields the event loop.
 */
export const profileIn = async (file: Chunks, signal: AbortSignal, pauses = slices): Promise<Profile | string> => {
  const { head, whole } = await beginOf(file)
  const plain = head.equals(GZIP) ? unpacked(whole, signal) : whole
  const events = new TraceEvents()
  const reader = new ProfileReader()
  let sizeBytes = 0
  try {
    for await (const bytes of plain) {
      sizeBytes += bytes.length
      if (sizeBytes > MAX_PLAIN_BYTES) return TOO_LARGE
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        for (const event of events.take(bytes.subarray(at, at + PIECE_BYTES))) reader.take(event)
        const pause = pauses.step()
        if (pause !== undefined) await pause
        signal.throwIfAborted()
      }
    }
    events.end()
  } catch (error) {
    // What zlib and JSON say of a client's file.
    if (error instanceof SyntaxError || isZlib(error)) return 'The profile cannot be read.'
    throw error
  }
  return reader.end(events.leftOut) ?? 'The profile has a form that is not known here.'
}

/** The first bytes of a file, enough to tell whether it is packed, and the whole of it with them. */
const beginOf = async (file: Chunks) => {
  const chunks = Symbol.asyncIterator in file ? file[Symbol.asyncIterator]() : file[Symbol.iterator]()
  let first: Buffer = Buffer.alloc(0)
  while (first.length < GZIP.length) {
    const { value, done } = await chunks.next()
    if (done) break
    first = first.length === 0 ? value : Buffer.concat([first, value])
  }
  async function* whole(): AsyncGenerator<Buffer> {
    try {
      yield first
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
    } finally {
      await chunks.return?.()
    }
  }
  return { head: first.subarray(0, GZIP.length), whole: whole() }
}

/** Both ends of the file are closed when one fails or its reader stops. */
const unpacked = (file: AsyncIterable<Buffer>, signal: AbortSignal): Readable => {
  const unpacking = createGunzip({ chunkSize: PIECE_BYTES })
  return pipeline(Readable.from(file, { signal, objectMode: false }), unpacking, () => {})
}

const isZlib = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^Z_/.test(error.code)

interface TraceEvent {
  readonly ph?: unknown
  readonly name?: unknown
  readonly cat?: unknown
  readonly ts?: unknown
  readonly dur?: unknown
  readonly tid?: unknown
  readonly args?: { readonly name?: unknown }
}

/** The events of the Chrome trace format that Bazel writes. A client may have written anything. */
export class ProfileReader {
  readonly #names = new Map<number, string>()
  readonly #busyMs = new Map<number, number>()
  #works: Work[] = []
  /** Shorter work is not kept any more. */
  #leastMs = 0
  #count = 0
  #endMs = 0

  take(event: unknown): void {
    if (typeof event !== 'object' || event === null) return
    const { ph, name, cat, ts, dur, tid, args } = event as TraceEvent
    if (typeof tid !== 'number' || typeof name !== 'string') return
    if (ph === 'M' && name === 'thread_name' && typeof args?.name === 'string' && this.#names.size < MAX_KNOWN_LANES)
      this.#names.set(tid, args.name.slice(0, MAX_NAME))
    if (ph !== 'X' || typeof ts !== 'number' || typeof dur !== 'number' || !(dur > 0) || !(ts >= 0)) return
    const [fromMs, tookMs] = [ts / 1000, dur / 1000]
    this.#count += 1
    this.#endMs = Math.max(this.#endMs, fromMs + tookMs)
    const busyMs = this.#busyMs.get(tid)
    if (busyMs === undefined && this.#busyMs.size >= MAX_KNOWN_LANES) return
    this.#busyMs.set(tid, (busyMs ?? 0) + tookMs)
    if (tookMs < this.#leastMs) return
    const kind = typeof cat === 'string' ? cat.slice(0, MAX_NAME) : ''
    this.#works.push({ lane: tid, name: name.slice(0, MAX_NAME), kind, fromMs, tookMs })
    if (this.#works.length < 2 * MAX_KNOWN_WORKS) return
    this.#works = longest(this.#works, MAX_KNOWN_WORKS)
    this.#leastMs = this.#works.at(-1)?.tookMs ?? 0
  }

  /** Undefined if there was no work. */
  end(unreadEvents = 0): Profile | undefined {
    if (this.#count === 0) return undefined
    const lanes = [...this.#busyMs]
      .map(([id, ms]) => ({ id, ms, name: this.#names.get(id) ?? `thread ${id}` }))
      .sort((a, b) => Number(b.name === CRITICAL) - Number(a.name === CRITICAL) || b.ms - a.ms)
      .slice(0, MAX_LANES)
      .map(({ id, name }) => ({ id, name }))
    const shownLanes = new Set(lanes.map(({ id }) => id))
    const works = longest(
      this.#works.filter(({ lane }) => shownLanes.has(lane)),
      MAX_WORKS,
    )
    return { lanes, works, endMs: this.#endMs, leftOut: this.#count + unreadEvents - works.length }
  }
}

const longest = (works: readonly Work[], count: number): Work[] =>
  [...works].sort((a, b) => b.tookMs - a.tookMs).slice(0, count)
