import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import { cancellation } from '../../rpc/call.js'
import { collect, deliver } from '../collect.js'
import { Drain } from '../drain.js'
import { join } from '../join.js'
import { discard, extentOf, type Range, type ReadPath, type WritePath } from '../path.js'
import type { PendingCheck } from '../verify.js'
import { checkStage, isFull } from './check.js'
import { type FailureListener, type Failures, NOBODY } from './failures.js'
import type { BlobFeed } from './feed.js'
import { type BlobFile, readFile } from './file.js'
import { type BlobForm, streamsOf } from './form.js'
import { type BlobStage, decode, type Encoding, encode } from './stage.js'

/** Properties of a blob that are known before it is read. */
export interface BlobFacts {
  /** Number of bytes that follow; undefined if unknown. */
  readonly sizeBytes?: number | undefined
  /** Position of the first byte in the whole blob; 0 unless this is a range. */
  readonly offset?: number
  readonly encoding?: Encoding
}

/**
 * A caller whose signal is read only when needed, because each call creates its signal lazily and that is
 * expensive.
 */
interface Wanting {
  readonly signal: AbortSignal
}

/** State of a blob: its source and the stages behind it, in order. */
interface State {
  readonly sizeBytes: number | undefined
  readonly offset: number
  readonly encoding: Encoding
  readonly source: BlobForm
  readonly stages: readonly BlobStage[]
  /**
   * Not yet a stage. It is appended in the encoding that the blob has then, unless a later stage does the
   * check itself.
   */
  readonly check: PendingCheck | undefined
  /** The digest that the bytes have already been checked against. */
  readonly verifiedDigest: Digest | undefined
  readonly failures: Failures
  readonly isImmutable: boolean
}

/**
 * A blob in transit from a producer to a consumer. Its source is bytes in memory, lent bytes, an open file or
 * streams; any number of stages follows. A blob is used once. Its owner takes it (`take`, `bytes`, `into`,
 * `path`), converts it (`through`, `as`, `verify`: use the returned blob from then on), or gives it up
 * (`discard`). Taking or discarding releases what the blob holds.
 *
 * No stage runs before the blob is taken. Bytes in memory then stay bytes through every stage that supports
 * it. Streams get one stream per stage and form one transfer, however deep stores are nested. After hand-over
 * the consumer gets every failure.
 */
export class Blob {
  readonly #state: State
  #isUsed = false

  private constructor(state: State) {
    this.#state = state
  }

  /** The caller must not change the bytes until the blob has been taken and that transfer has settled. */
  static ofBytes(bytes: Buffer, facts: BlobFacts = {}): Blob {
    return new Blob(begin({ kind: 'bytes', bytes }, facts, bytes.length))
  }

  /**
   * A range of a blob in memory, as `extentOf` defines it. Returns the same buffer if the range covers all of
   * it.
   */
  static ofPart(bytes: Buffer, range: Range, key: string): Blob {
    const { offset, end } = extentOf(range, bytes.length, key)
    return Blob.ofBytes(end - offset === bytes.length ? bytes : bytes.subarray(offset, end), { offset })
  }

  static ofFile(file: BlobFile, facts: BlobFacts = {}): Blob {
    return new Blob(begin({ kind: 'file', file }, facts, file.sizeBytes))
  }

  /** Bytes that are only lent to the consumer. */
  static ofFeed(feed: BlobFeed, facts: BlobFacts = {}): Blob {
    return new Blob(begin({ kind: 'feed', feed }, facts, facts.sizeBytes))
  }

  /** Byte streams, never in object mode. */
  static ofPath(path: ReadPath, facts: BlobFacts = {}): Blob {
    return new Blob(begin({ kind: 'path', path, isImmutable: false }, facts, facts.sizeBytes))
  }

  /** Number of bytes that follow; undefined if unknown. */
  get sizeBytes(): number | undefined {
    return this.#state.sizeBytes
  }

  /** Position of the first byte in the whole blob. */
  get offset(): number {
    return this.#state.offset
  }

  get encoding(): Encoding {
    return this.#state.encoding
  }

  /** Whether the bytes match this digest, or will have been checked by the time a consumer has all of them. */
  isVerified({ content: { key } }: Digest): boolean {
    const { check, verifiedDigest } = this.#state
    return verifiedDigest?.key === key || (check !== undefined && check.digest.key === key && isFull(check))
  }

  /** Whether the blob is available in this encoding without being encoded. */
  isIn(encoding: Encoding): boolean {
    return this.encoding === encoding || this.#state.stages.at(-1)?.as?.(encoding) !== undefined
  }

  /** Memory that its stages hold while it is read, for windows: `BlobStage.windowBytes`. */
  get windowBytes(): number {
    let sum = 0
    for (const { windowBytes } of this.#state.stages) sum += windowBytes
    return sum
  }

  /** Whether all bytes are in memory and no stage or check is left. Such a blob cannot fail. */
  get isAtHand(): boolean {
    const { source, stages, check } = this.#state
    return source.kind === 'bytes' && stages.length === 0 && check === undefined
  }

  /** Takes the bytes of a blob that is at hand, without a promise; undefined for other blobs. */
  bytesAtHand(): Buffer | undefined {
    const { source } = this.#state
    if (!this.isAtHand || source.kind !== 'bytes') return undefined
    this.#use()
    return source.bytes
  }

  /**
   * Takes the bytes of a blob in memory that has no stage but its check, compared with the digest; a promise if they are not right,
   * which rejects. Undefined for other blobs, which are not taken.
   */
  checkedBytes(): Buffer | Promise<Buffer> | undefined {
    const { source, stages, check, failures } = this.#state
    if (source.kind !== 'bytes' || stages.length > 0 || this.encoding !== 'IDENTITY') return undefined
    this.#use()
    if (check === undefined) return source.bytes
    const made = checkStage(check, 'IDENTITY').bytes?.(source.bytes) ?? source.bytes
    if (!(made instanceof Promise)) return made
    return made.catch((error: unknown) => {
      failures.met(error, 0)
      throw error
    })
  }

  /** Appends a stage. Its output is a new blob: of unknown length, unchecked and not encoded. */
  through(stage: BlobStage): Blob {
    const { source, check } = this.#state
    const stages = stage.doesCheck === true ? this.#state.stages : this.#checkedStages()
    const given = stage.doesCheck === true && check !== undefined ? checking(stage, check) : stage
    const { failures, isImmutable } = this.#state
    return this.#onward({ ...begin(source, PLAIN, undefined), stages: [...stages, given], failures, isImmutable })
  }

  /**
   * The same blob in another encoding. A stage that can give this encoding directly is replaced; else the
   * blob is encoded or decoded on the way. `sizeBytes` is the resulting length, if known, and `maxBytes` what it may be at most.
   */
  as(encoding: Encoding, sizeBytes?: number, maxBytes = sizeBytes): Blob {
    if (this.encoding === encoding) return this
    const { stages, check, verifiedDigest } = this.#state
    const instead = stages.at(-1)?.as?.(encoding)
    if (instead !== undefined) {
      return this.#onward({ ...this.#state, stages: [...stages.slice(0, -1), ...instead], encoding, sizeBytes })
    }
    const verified = check !== undefined && isFull(check) ? check.digest : verifiedDigest
    const plain =
      this.encoding === 'IDENTITY'
        ? this.#checkedStages()
        : [...this.#checkedStages(), decode(this.encoding, sizeBytes, maxBytes)]
    const next = encoding === 'IDENTITY' ? plain : [...plain, encode(encoding)]
    const checked: Pick<State, 'check' | 'verifiedDigest'> = { check: undefined, verifiedDigest: verified }
    return this.#onward({ ...this.#state, ...checked, stages: next, encoding, sizeBytes })
  }

  /**
   * Fails before the last byte if the content does not match `digest`; `options` name the party at fault.
   * Bytes are hashed only once, so a blob that is already checked stays unchanged.
   */
  verify(digest: Digest, options: Omit<PendingCheck, 'digest'>): Blob {
    if (this.isVerified(digest)) return this
    const stages = this.#state.check === undefined ? this.#state.stages : this.#checkedStages()
    const { fault, checksSize, checksHash, repair } = options
    // Spreading objects of different shapes would cost a small blob as much as its stores do.
    const check = {
      digest: digest.content,
      fault,
      repair,
      checksSize: checksSize ?? true,
      checksHash: checksHash ?? true,
    }
    return this.#onward({ ...this.#state, stages, check })
  }

  /** The same blob. The caller guarantees that its bytes match `digest`. */
  assumeVerified(digest: Digest): Blob {
    return this.#onward({ ...this.#state, verifiedDigest: digest.content })
  }

  /**
   * Marks the bytes as immutable, like those returned by a store. Without the mark, bytes are only stable
   * until the transfer has settled, like those of an upload.
   */
  immutable(): Blob {
    return this.#onward({ ...this.#state, isImmutable: true })
  }

  /** The same blob. `tell` is called if the source or one of the present stages fails while a consumer reads it. */
  onFailure(listener: FailureListener): Blob {
    // Avoids a new object for each store that counts the blob: bytes in memory cannot fail.
    if (this.isAtHand) return this
    const { stages, check, failures } = this.#state
    return this.#onward({
      ...this.#state,
      failures: failures.withListener(listener, stages.length + (check === undefined ? 0 : 1)),
    })
  }

  /** The same blob without its pending check. The caller must do the returned check. */
  withoutCheck(): readonly [Blob, PendingCheck | undefined] {
    const { check } = this.#state
    return [this.#onward({ ...this.#state, check: undefined }), check]
  }

  /** Applies the stages and returns the cheapest form. Rejects if bytes in memory are invalid. */
  async take(): Promise<BlobForm> {
    const stages = this.#use()
    const { failures } = this.#state
    let { source } = this.#state
    let next = 0
    try {
      for (; next < stages.length && source.kind === 'bytes'; next++) {
        const made: Buffer | undefined | Promise<Buffer> = stages[next]?.bytes?.(source.bytes)
        // Awaiting a value that is not a promise would cost each small blob a turn.
        const bytes = made instanceof Promise ? await made : made
        if (bytes === undefined) break
        source = { kind: 'bytes', bytes }
      }
    } catch (error) {
      failures.met(error, next)
      throw error
    }
    // Only streams report which stage failed, so a feed with listeners becomes a stream.
    const isFeed = source.kind === 'feed' && !failures.areHeard
    for (; isFeed && next < stages.length && source.kind === 'feed'; next++) {
      const feed: BlobFeed | undefined = stages[next]?.feed?.(source.feed)
      if (feed === undefined) break
      source = { kind: 'feed', feed }
    }
    const file = source.kind === 'file' ? fileBehind(source.file, stages, failures) : undefined
    if (file !== undefined) return { kind: 'file', file }
    const rest = stages.length - next
    // A stream over a feed or a file has its own buffers.
    const isImmutable = this.#state.isImmutable || source.kind === 'feed' || source.kind === 'file'
    if (rest > 0 || (source.kind === 'feed' && !isFeed))
      return {
        kind: 'path',
        path: failures.ofPath(behind(source, stages.slice(next)), rest, next),
        isImmutable,
      }
    return source.kind === 'path' ? { kind: 'path', path: failures.ofPath(source.path, 0), isImmutable } : source
  }

  /** Takes the blob as streams. The caller must run or discard them. */
  path(): ReadPath {
    const stages = this.#use()
    return this.#state.failures.ofPath(behind(this.#state.source, stages), stages.length)
  }

  /**
   * The whole blob in memory. Treat the result as immutable, because readers may share it. Rejects with
   * RESOURCE_EXHAUSTED above `maxBytes`, and with CANCELLED if the signal has aborted and the bytes are not
   * in memory.
   */
  async bytes(maxBytes: number, wanting: Wanting): Promise<Buffer> {
    if (this.#state.source.kind !== 'bytes' && wanting.signal.aborted) this.#refuse(cancellation(wanting.signal))
    const known = this.sizeBytes
    if (known !== undefined && known > maxBytes) this.#refuse(tooLarge(known, maxBytes))
    const form = await this.take()
    if (form.kind === 'path' || form.kind === 'feed')
      return collect(streamsOf(form), { maxBytes, signal: wanting.signal })
    if (form.kind === 'file') return readFile(form.file)
    if (form.bytes.length > maxBytes) throw tooLarge(form.bytes.length, maxBytes)
    return form.bytes
  }

  /** Moves the blob into a sink and waits for the sink's `finish`. Rejects after all streams have closed. */
  async into(sink: WritePath, signal: AbortSignal): Promise<void> {
    const form = await this.take().catch((error: unknown) => {
      discard(sink)
      throw error
    })
    if (form.kind === 'bytes') await deliver(form.bytes, sink, signal)
    else await join([...streamsOf(form), ...sink], signal)
  }

  /** Reads the blob to its end without keeping it. Rejects if it cannot be read. */
  async drain(signal: AbortSignal): Promise<void> {
    const form = await this.take()
    if (form.kind !== 'bytes') await join([...streamsOf(form), new Drain()], signal)
  }

  /** Releases the blob unless it was taken. */
  discard(): void {
    if (this.#isUsed) return
    this.#isUsed = true
    const { source } = this.#state
    if (source.kind === 'path') discard(source.path)
    else if (source.kind === 'feed') source.feed.discard()
    // Best effort: no caller is left to receive the error.
    else if (source.kind === 'file') source.file.close().catch(() => {})
  }

  #refuse(error: StatusError): never {
    this.discard()
    throw error
  }

  /** Marks the blob as used, and returns its stages including the check. */
  #use(): readonly BlobStage[] {
    const stages = this.#checkedStages()
    if (this.#isUsed) throw new Error('a blob was used twice')
    this.#isUsed = true
    return stages
  }

  #onward(state: State): Blob {
    if (this.#isUsed) throw new Error('a blob was used twice')
    this.#isUsed = true
    return new Blob(state)
  }

  #checkedStages(): readonly BlobStage[] {
    const { stages, check } = this.#state
    return check === undefined ? stages : [...stages, checkStage(check, this.encoding)]
  }
}

const NONE: readonly BlobStage[] = []
const PLAIN: BlobFacts = {}

const begin = (
  source: BlobForm,
  { offset = 0, encoding = 'IDENTITY' }: BlobFacts,
  sizeBytes: number | undefined,
): State => ({
  sizeBytes,
  offset,
  encoding,
  source,
  stages: NONE,
  check: undefined,
  verifiedDigest: undefined,
  failures: NOBODY,
  isImmutable: false,
})

const checking = (stage: BlobStage, check: PendingCheck): BlobStage => ({
  ...stage,
  stream: () => stage.stream(check),
  ...(stage.bytes && { bytes: (bytes: Buffer) => stage.bytes?.(bytes, check) }),
})

const behind = (source: BlobForm, stages: readonly BlobStage[]): ReadPath => {
  const [first, ...more] = streamsOf(source)
  return [first, ...more, ...stages.map((stage) => stage.stream(undefined))]
}

/** Undefined if a stage supports only streams. */
const fileBehind = (source: BlobFile, stages: readonly BlobStage[], failures: Failures): BlobFile | undefined => {
  let file: BlobFile | undefined = failures.ofFile(source, -1)
  for (const [position, stage] of stages.entries()) {
    file = stage.file?.(file)
    if (file === undefined) return undefined
    file = failures.ofFile(file, position)
  }
  return file
}

const tooLarge = (sizeBytes: number, maxBytes: number): StatusError =>
  new StatusError('RESOURCE_EXHAUSTED', `the blob has ${sizeBytes} bytes, expected at most ${maxBytes} here`)
