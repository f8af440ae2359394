import { crc32 } from 'node:zlib'
import { StatusError } from '../../../base/status-error.js'
import { outcomeOf, type Store } from '../../../blobs/store.js'
import type { CompressorName } from '../../../reapi/compressor.js'
import type { Digest } from '../../../reapi/digest.js'
import { type Call, callWith, internalCall } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import { BlobCheck } from '../../../stream/blob-check.js'
import { Loop } from '../../../stream/loop.js'
import { WHOLE } from '../../../stream/path.js'
import { type PendingCheck, Verify, type Witness } from '../../../stream/verify.js'
import { VerifyDecoded } from '../../../stream/verify-decoded.js'
import { TimeSlices } from '../../../work/time-slices.js'
import { behind, copyReader, type OpenRest } from './copy-reader.js'
import { WINDOW_BYTES, Window } from './window.js'

export interface CopyTiers {
  readonly fast: Store
  readonly slow: Store
  /** Removes a damaged blob from slow. */
  repair(digest: Digest, call: Call): Promise<void>
}

/** Blobs up to this size are copied as one buffer: readers need no stream. */
const SMALL_BYTES = 64 * 1024

/** How long a copy between two tiers that never wait may block the event loop. Its readers run after that. */
const SLICE_MS = 1

/** The bytes in the form that fast stores. Each mark is the CRC-32 of all bytes before it. */
interface EncodedWindow {
  readonly encoding: CompressorName
  readonly window: Window<number>
}

/**
 * The copy of one blob from slow to fast, at the speed of these two. It continues after the call that started it has
 * ended. Readers share its bytes while they keep up; the copy waits for none of them.
 */
export class Copy {
  /** Resolves when slow has answered. Rejects when slow lacks the blob or failed. */
  readonly opened: Promise<unknown>
  /** Resolves when the copy has ended: undefined if fast has the blob, else the reason why not. */
  readonly over: Promise<StatusError | undefined>
  readonly #digest: Digest
  readonly #tiers: CopyTiers
  readonly #call: Call
  readonly #window = new Window<BlobCheck>()
  /** Set when the reader that started the copy wants the encoding that fast stores. */
  #encoded: EncodedWindow | undefined
  #bytes: Buffer | undefined
  #isOpen = false
  #isOutdated = false
  #isShared = true

  /** `call` is the copy's own; it is aborted when the store closes. */
  constructor(digest: Digest, tiers: CopyTiers, call: Call, readAs: CompressorName | undefined) {
    this.#digest = digest
    this.#tiers = tiers
    this.#call = call
    const opening = this.#open(readAs)
    this.opened = opening
    // Callers that wait for `opened` see the failure too.
    this.over = this.#run(opening)
  }

  /** The key of its digest. */
  get key(): string {
    return this.#digest.key
  }

  /** Whether slow returned the blob. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Called when the blob was written or removed: the bytes of this copy must not stay in fast. */
  outdate(): void {
    this.#isOutdated = true
  }

  /** Whether a new reader may use the bytes of this copy. */
  get isCurrent(): boolean {
    return !this.#isOutdated
  }

  /** A read from this copy, to be called after `opened`. Undefined when the copy cannot be shared: ask slow. */
  read(call: Call, wantedAs: CompressorName | undefined): Blob | undefined {
    if (!this.#isShared) return undefined
    if (this.#bytes !== undefined) return this.#known(Blob.ofBytes(this.#bytes))
    if (this.#encoded !== undefined && this.#encoded.encoding === wantedAs)
      return this.#readEncoded(this.#encoded, call)
    // A reader that leaves the copy gets bytes that the copy has not verified.
    const openRest: OpenRest<BlobCheck> = async (position, soFar, signal) => {
      const check = soFar?.copy() ?? new BlobCheck(this.#digest.content, { fault: 'backend' })
      const rest = await this.#openRest(position, callWith(call, { signal }))
      return rest.through({ windowBytes: 0, stream: () => new Verify(check) })
    }
    return this.#known(Blob.ofPath([copyReader(this.#window, openRest)]))
  }

  /**
   * In the stored encoding, which cannot be read from the middle. A reader that leaves the copy reads from the start
   * again.
   */
  #readEncoded({ encoding, window }: EncodedWindow, call: Call): Blob {
    const openRest: OpenRest<number> = async (position, checksum, signal) => {
      const range = { ...WHOLE, wantedAs: encoding }
      const blob = await this.#tiers.slow.get(this.#digest, range, callWith(call, { signal }))
      return blob.as(encoding).through({ windowBytes: 0, stream: () => behind(position, checksum ?? 0) })
    }
    return Blob.ofPath([copyReader(window, openRest)], { encoding }).as('IDENTITY', this.#digest.sizeBytes)
  }

  /** Opens the blob in the form for fast. */
  async #open(readAs: CompressorName | undefined): Promise<Blob> {
    const [wantedAs] = this.#tiers.fast.properties.encodings
    const blob = await this.#tiers.slow.get(this.#digest, { ...WHOLE, wantedAs }, this.#call)
    if (!this.#digest.describesContent) return this.#openKeyed(blob)
    const isSmall = this.#digest.sizeBytes <= SMALL_BYTES
    const encoding = isSmall ? undefined : this.#tiers.fast.properties.encodings.find((common) => blob.isIn(common))
    const opened = encoding === undefined ? await this.#openPlain(blob) : this.#openEncoded(blob, encoding, readAs)
    return opened.assumeVerified(this.#digest).immutable()
  }

  /** Verifies the bytes from slow before fast stores them. */
  async #openPlain(blob: Blob): Promise<Blob> {
    const checked = blob.verify(this.#digest, this.#check)
    if (this.#digest.sizeBytes <= SMALL_BYTES) {
      return this.#atHand(await checked.bytes(SMALL_BYTES, this.#call))
    }
    const shown = ({ digest, ...check }: PendingCheck): Verify =>
      new Verify(new BlobCheck(digest, check), { repair: check.repair, witness: this.#witness })
    const fullCheck = { digest: this.#digest.content, ...this.#check }
    return checked.through({ doesCheck: true, windowBytes: 0, stream: (check = fullCheck) => shown(check) })
  }

  /** Passes the verified bytes to the readers, so that they need not verify again while they keep up. */
  get #witness(): Witness {
    const slices = new TimeSlices(SLICE_MS)
    return {
      passed: (bytes, soFar) => {
        this.#window.add(bytes, soFar.copy())
        return slices.step()
      },
      ended: () => this.#window.end(),
    }
  }

  get #check(): Omit<PendingCheck, 'digest'> {
    return { fault: 'backend', repair: () => this.#tiers.repair(this.#digest, internalCall({ log: this.#call.log })) }
  }

  /**
   * Copies the encoding that both tiers store, without encoding again. It is decoded only for readers and for the
   * check.
   */
  #openEncoded(blob: Blob, encoding: CompressorName, readAs: CompressorName | undefined): Blob {
    const check = new VerifyDecoded(this.#digest, encoding, this.#check, this.#witness)
    if (readAs === encoding) this.#encoded = { encoding, window: new Window<number>() }
    const shown = this.#encoded === undefined ? [] : [observed(this.#encoded.window)]
    const path = [...blob.as(encoding).path(), check, ...shown] as const
    return Blob.ofPath(path, { encoding }).as('IDENTITY', this.#digest.sizeBytes)
  }

  /**
   * A blob under a key may be replaced during the copy, and a reader with a part of it could not continue elsewhere. So
   * it is shared as one buffer or not at all.
   */
  async #openKeyed(blob: Blob): Promise<Blob> {
    const { sizeBytes } = blob
    if (sizeBytes !== undefined && sizeBytes <= WINDOW_BYTES) {
      return this.#atHand(await blob.bytes(WINDOW_BYTES, this.#call))
    }
    this.#isShared = false
    return blob
  }

  #atHand(bytes: Buffer): Blob {
    this.#bytes = bytes
    return Blob.ofBytes(bytes)
  }

  async #run(opening: Promise<Blob>): Promise<StatusError | undefined> {
    try {
      const blob = await opening
      this.#isOpen = true
      const failure = await outcomeOf(this.#tiers.fast.put(this.#digest, blob, this.#call))
      if (failure !== undefined) for (const window of [this.#window, this.#encoded?.window]) window?.end(failure)
      if (this.#isOutdated)
        await this.#tiers.fast.remove(this.#digest, 'unwanted', internalCall({ log: this.#call.log }))
      return failure
    } catch (error) {
      return StatusError.from(error)
    }
  }

  #known(blob: Blob): Blob {
    return this.#digest.describesContent ? blob.assumeVerified(this.#digest) : blob
  }

  /** Continues from fast if the blob is there already. A failure of fast is a miss. */
  async #openRest(position: number, call: Call): Promise<Blob> {
    const { fast, slow } = this.#tiers
    const range = { offset: position, limit: Number.POSITIVE_INFINITY }
    const near = await fast.get(this.#digest, range, call).catch(() => undefined)
    return near ?? slow.get(this.#digest, range, call)
  }
}

/** Passes the encoded bytes on to the readers that want them. */
const observed = (window: Window<number>): Loop =>
  new Loop(async function* (input) {
    let checksum = 0
    for await (const chunk of input) {
      checksum = crc32(chunk, checksum)
      window.add(chunk, checksum)
      yield chunk
    }
    window.end()
  })
