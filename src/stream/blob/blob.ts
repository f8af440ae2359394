import { cancellation } from '../../base/call.js'
import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
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

/** What is known of a blob without reading it. */
export interface BlobFacts {
  /** How many bytes come; undefined where that is not known before they have. */
  readonly sizeBytes?: number | undefined
  /** Where they begin in the whole blob; 0 unless it is a part. */
  readonly offset?: number
  readonly encoding?: Encoding
}

/** Who wants something only for as long as its signal says: a call makes one when it is asked for it, which is dear. */
interface Wanting {
  readonly signal: AbortSignal
}

/** The way of a blob so far: what it was at its source, and the stages in front of that, the last one last. */
interface Way {
  readonly sizeBytes: number | undefined
  readonly offset: number
  readonly encoding: Encoding
  readonly source: BlobForm
  readonly stages: readonly BlobStage[]
  /** Not among the stages yet: it goes behind them, in the encoding the blob then has, unless a stage does it anyhow. */
  readonly check: PendingCheck | undefined
  /** The digest its bytes were compared with before they came here. */
  readonly checkedAs: Digest | undefined
  readonly failures: Failures
  readonly lasts: boolean
}

/**
 * A blob on its way from whom has it to whom wants it: bytes in memory or lent, an open file or streams, behind any number of
 * stages. It is used once: whoever gets one takes it (`take`, `bytes`, `into`, `path`), hands it on (`through`, `as`,
 * `checkedAs`, which answer the blob to go on with), or gives it up with `discard`; what it holds is freed by either.
 *
 * Nothing runs before it is taken. Bytes at hand then stay bytes through every stage that can do that, and streams grow
 * by one stage each and are one transfer however deep stores are nested. After it was handed out every failure is told
 * to who takes it.
 */
export class Blob {
  readonly #way: Way
  #isUsed = false

  private constructor(way: Way) {
    this.#way = way
  }

  /** The bytes must stay as they are until the blob was taken, and what came of that is settled. */
  static ofBytes(bytes: Buffer, facts: BlobFacts = {}): Blob {
    return new Blob(begin({ kind: 'bytes', bytes }, facts, bytes.length))
  }

  /** What a range says of a blob whose bytes are at hand, as `extentOf`: the very same buffer where that is all of it. */
  static ofPart(bytes: Buffer, range: Range, key: string): Blob {
    const { offset, end } = extentOf(range, bytes.length, key)
    return Blob.ofBytes(end - offset === bytes.length ? bytes : bytes.subarray(offset, end), { offset })
  }

  static ofFile(file: BlobFile, facts: BlobFacts = {}): Blob {
    return new Blob(begin({ kind: 'file', file }, facts, file.sizeBytes))
  }

  /** Bytes that are only lent to who takes them. */
  static ofFeed(feed: BlobFeed, facts: BlobFacts = {}): Blob {
    return new Blob(begin({ kind: 'feed', feed }, facts, facts.sizeBytes))
  }

  /** Streams of bytes, never in object mode. */
  static ofPath(path: ReadPath, facts: BlobFacts = {}): Blob {
    return new Blob(begin({ kind: 'path', path, lasts: false }, facts, facts.sizeBytes))
  }

  /** How many bytes will come; undefined where nobody knows. */
  get sizeBytes(): number | undefined {
    return this.#way.sizeBytes
  }

  /** Where its first byte is in the whole blob. */
  get offset(): number {
    return this.#way.offset
  }

  get encoding(): Encoding {
    return this.#way.encoding
  }

  /** Whether its bytes are, or will have been when somebody has the whole of them, those of this digest. */
  isCheckedAs({ content: { key } }: Digest): boolean {
    const { check, checkedAs } = this.#way
    return checkedAs?.key === key || (check !== undefined && check.digest.key === key && isFull(check))
  }

  /** Whether it can be had in an encoding without being encoded for it. */
  isIn(encoding: Encoding): boolean {
    return this.encoding === encoding || this.#way.stages.at(-1)?.as?.(encoding) !== undefined
  }

  /** Whether its bytes are in memory and nothing is left to be done to them: then it cannot fail. */
  get isAtHand(): boolean {
    const { source, stages, check } = this.#way
    return source.kind === 'bytes' && stages.length === 0 && check === undefined
  }

  /** Puts a stage in its way. What comes behind it is another blob: of unknown length, unchecked, and plain. */
  through(stage: BlobStage): Blob {
    const { source, check } = this.#way
    const stages = stage.doesCheck === true ? this.#way.stages : this.#checkedStages()
    const given =
      stage.doesCheck === true && check !== undefined ? { ...stage, stream: () => stage.stream(check) } : stage
    const { failures, lasts } = this.#way
    return this.#onward({ ...begin(source, PLAIN, undefined), stages: [...stages, given], failures, lasts })
  }

  /**
   * The same blob in an encoding: as it is where it comes so, else encoded or decoded on the way. `sizeBytes` is how many
   * bytes that makes, where the caller knows.
   */
  as(encoding: Encoding, sizeBytes?: number): Blob {
    if (this.encoding === encoding) return this
    const { stages, check, checkedAs } = this.#way
    const instead = stages.at(-1)?.as?.(encoding)
    if (instead !== undefined) {
      return this.#onward({ ...this.#way, stages: [...stages.slice(0, -1), ...instead], encoding, sizeBytes })
    }
    const checked = { check: undefined, checkedAs: check !== undefined && isFull(check) ? check.digest : checkedAs }
    const plain =
      this.encoding === 'IDENTITY'
        ? this.#checkedStages()
        : [...this.#checkedStages(), decode(this.encoding, sizeBytes)]
    const next = encoding === 'IDENTITY' ? plain : [...plain, encode(encoding)]
    return this.#onward({ ...this.#way, ...checked, stages: next, encoding, sizeBytes })
  }

  /**
   * The same blob, of which nobody gets the whole unless its bytes are those of `digest`: who is at fault when they are not
   * says `options`. Bytes are hashed once on their way: a blob that is checked already stays as it is.
   */
  checkedAs(digest: Digest, options: Omit<PendingCheck, 'digest'>): Blob {
    if (this.isCheckedAs(digest)) return this
    const stages = this.#way.check === undefined ? this.#way.stages : this.#checkedStages()
    const { fault, checksSize, checksHash, repair } = options
    // Field by field: to spread what comes in different shapes costs a small blob as much as its stores do.
    const check = {
      digest: digest.content,
      fault,
      repair,
      checksSize: checksSize ?? true,
      checksHash: checksHash ?? true,
    }
    return this.#onward({ ...this.#way, stages, check })
  }

  /** The same blob, whose bytes the caller knows to be those of `digest`. */
  knownAs(digest: Digest): Blob {
    return this.#onward({ ...this.#way, checkedAs: digest.content })
  }

  /**
   * The same blob, of whose bytes the caller knows that they are never written to again, as of those that a store gives. Those of an
   * upload stay as they are until it is settled.
   */
  lasting(): Blob {
    return this.#onward({ ...this.#way, lasts: true })
  }

  /** The same blob. `tell` hears of it when its source, or a stage it has passed so far, fails under whoever takes it. */
  onFailure(tell: FailureListener): Blob {
    // A blob that is counted by every store on its way is not made anew by each of them.
    if (this.isAtHand) return this
    const { stages, check, failures } = this.#way
    return this.#onward({
      ...this.#way,
      failures: failures.heardBy(tell, stages.length + (check === undefined ? 0 : 1)),
    })
  }

  /** The same blob and what it is still to be compared with, which is then the caller's to see to. */
  withoutCheck(): readonly [Blob, PendingCheck | undefined] {
    const { check } = this.#way
    return [this.#onward({ ...this.#way, check: undefined }), check]
  }

  /** What there is at its end, in the form that costs least. Rejects with what is wrong with bytes at hand. */
  async take(): Promise<BlobForm> {
    const stages = this.#use()
    const { failures } = this.#way
    let { source } = this.#way
    let next = 0
    try {
      for (; next < stages.length && source.kind === 'bytes'; next++) {
        const made: Buffer | undefined | Promise<Buffer> = stages[next]?.bytes?.(source.bytes)
        // Waiting for what is there already costs each small blob a turn.
        const bytes = made instanceof Promise ? await made : made
        if (bytes === undefined) break
        source = { kind: 'bytes', bytes }
      }
    } catch (error) {
      failures.met(error, next)
      throw error
    }
    // Only streams tell whose failure ended them.
    const isFeed = source.kind === 'feed' && !failures.areHeard
    for (; isFeed && next < stages.length && source.kind === 'feed'; next++) {
      const feed: BlobFeed | undefined = stages[next]?.feed?.(source.feed)
      if (feed === undefined) break
      source = { kind: 'feed', feed }
    }
    const file = source.kind === 'file' ? fileBehind(source.file, stages, failures) : undefined
    if (file !== undefined) return { kind: 'file', file }
    const rest = stages.length - next
    // Streams of what is lent, or in a file, give buffers of their own.
    const lasts = this.#way.lasts || source.kind === 'feed' || source.kind === 'file'
    if (rest > 0 || (source.kind === 'feed' && !isFeed))
      return { kind: 'path', path: failures.ofPath(behind(source, stages.slice(next)), rest, next), lasts }
    return source.kind === 'path' ? { kind: 'path', path: failures.ofPath(source.path, 0), lasts } : source
  }

  /** Its streams, for who wants nothing else: the caller runs them, or discards them. */
  path(): ReadPath {
    const stages = this.#use()
    return this.#way.failures.ofPath(behind(this.#way.source, stages), stages.length)
  }

  /**
   * The whole of it in memory. Nobody may write to the answer: it can be what another reader gets too. More than a caller is
   * ready to hold is RESOURCE_EXHAUSTED; what a call that ended would have to read is CANCELLED.
   */
  async bytes(maxBytes: number, wanting: Wanting): Promise<Buffer> {
    if (this.#way.source.kind !== 'bytes' && wanting.signal.aborted) this.#refuse(cancellation(wanting.signal))
    const known = this.sizeBytes
    if (known !== undefined && known > maxBytes) this.#refuse(tooLarge(known, maxBytes))
    const form = await this.take()
    if (form.kind === 'path' || form.kind === 'feed')
      return collect(streamsOf(form), { maxBytes, signal: wanting.signal })
    if (form.kind === 'file') return readFile(form.file)
    if (form.bytes.length > maxBytes) throw tooLarge(form.bytes.length, maxBytes)
    return form.bytes
  }

  /** Moves it into a sink, whose `finish` it waits for. Rejects once all that took part in it has been freed. */
  async into(sink: WritePath, signal: AbortSignal): Promise<void> {
    const form = await this.take().catch((error: unknown) => {
      discard(sink)
      throw error
    })
    if (form.kind === 'bytes') await deliver(form.bytes, sink, signal)
    else await join([...streamsOf(form), ...sink], signal)
  }

  /** Reads it off, for who wants to know only whether it can be read. */
  async drain(signal: AbortSignal): Promise<void> {
    const form = await this.take()
    if (form.kind !== 'bytes') await join([...streamsOf(form), new Drain()], signal)
  }

  /** Gives it up unless it was taken. */
  discard(): void {
    if (this.#isUsed) return
    this.#isUsed = true
    const { source } = this.#way
    if (source.kind === 'path') discard(source.path)
    else if (source.kind === 'feed') source.feed.discard()
    // Nobody is left to tell of a close that fails.
    else if (source.kind === 'file') source.file.close().catch(() => {})
  }

  #refuse(error: StatusError): never {
    this.discard()
    throw error
  }

  /** Ends this value: the stages, the check among them, that its source has to pass. */
  #use(): readonly BlobStage[] {
    const stages = this.#checkedStages()
    if (this.#isUsed) throw new Error('a blob was used twice')
    this.#isUsed = true
    return stages
  }

  #onward(way: Way): Blob {
    if (this.#isUsed) throw new Error('a blob was used twice')
    this.#isUsed = true
    return new Blob(way)
  }

  #checkedStages(): readonly BlobStage[] {
    const { stages, check } = this.#way
    return check === undefined ? stages : [...stages, checkStage(check, this.encoding)]
  }
}

const NONE: readonly BlobStage[] = []
const PLAIN: BlobFacts = {}

/** All with the same fields in the same order, which V8 copies at a fraction of the cost. */
const begin = (
  source: BlobForm,
  { offset = 0, encoding = 'IDENTITY' }: BlobFacts,
  sizeBytes: number | undefined,
): Way => ({
  sizeBytes,
  offset,
  encoding,
  source,
  stages: NONE,
  check: undefined,
  checkedAs: undefined,
  failures: NOBODY,
  lasts: false,
})

const behind = (source: BlobForm, stages: readonly BlobStage[]): ReadPath => {
  const [first, ...more] = streamsOf(source)
  return [first, ...more, ...stages.map((stage) => stage.stream(undefined))]
}

/** Undefined where one of the stages is for streams. */
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
