import { crc32 } from 'node:zlib'
import { type Call, callWith, internalCall } from '../../base/call.js'
import { StatusError } from '../../base/status-error.js'
import { TimeSlices } from '../../base/work/time-slices.js'
import type { CompressorName } from '../../reapi/compressor.js'
import type { Digest } from '../../reapi/digest.js'
import { Blob } from '../../stream/blob/blob.js'
import { BlobCheck } from '../../stream/blob-check.js'
import { Loop } from '../../stream/loop.js'
import { WHOLE } from '../../stream/path.js'
import { type PendingCheck, Verify, type Witness } from '../../stream/verify.js'
import { VerifyDecoded } from '../../stream/verify-decoded.js'
import { outcomeOf, type Store } from '../store.js'
import { behind, copyReader, type OpenRest } from './copy-reader.js'
import { WINDOW_BYTES, Window } from './window.js'

export interface CopyTiers {
  readonly fast: Store
  readonly slow: Store
  /** Takes away what slow has of a blob and is wrong. */
  repair(digest: Digest, call: Call): Promise<void>
}

/** Up to here a blob is copied as bytes: readers need no stream for it. */
const SMALL_BYTES = 64 * 1024

/** How long a copy between two tiers that never wait may hold the event loop: its readers follow meanwhile. */
const SLICE_MS = 1

/** As fast gets them: marked with the CRC-32 of all up to there. */
interface EncodedWindow {
  readonly encoding: CompressorName
  readonly window: Window<number>
}

/**
 * One blob on its way from slow to fast, at the pace of these two. It outlives the call that wanted it. Readers share its
 * bytes while they keep up; none of them is waited for.
 */
export class Copy {
  /** Resolves when slow has answered; rejects when it has not got the blob, or failed. */
  readonly opened: Promise<unknown>
  /** Resolves once the copy is over: with why fast did not get it, and undefined when it has. */
  readonly over: Promise<StatusError | undefined>
  readonly #digest: Digest
  readonly #tiers: CopyTiers
  readonly #call: Call
  readonly #window = new Window<BlobCheck>()
  /** Where the reader who began the copy wants what fast gets. */
  #encoded: EncodedWindow | undefined
  #bytes: Buffer | undefined
  #isOutdated = false
  #isShared = true

  /** `call` is the copy's own: it ends when copies are to stop. */
  constructor(digest: Digest, tiers: CopyTiers, call: Call, readAs: CompressorName | undefined) {
    this.#digest = digest
    this.#tiers = tiers
    this.#call = call
    const opening = this.#open(readAs)
    this.opened = opening
    // Those who wait for it hear of it too.
    this.over = this.#run(opening)
  }

  /** Of its digest. */
  get key(): string {
    return this.#digest.key
  }

  /** The blob was written anew or removed: what this copy brings is not to stay. */
  outdate(): void {
    this.#isOutdated = true
  }

  /** Whether somebody who wants the blob now may have what this copy brings. */
  get isCurrent(): boolean {
    return !this.#isOutdated
  }

  /** For one who waited for `opened`. Undefined when there is nothing to share, and slow has to be asked. */
  read(call: Call, wantedAs: CompressorName | undefined): Blob | undefined {
    if (!this.#isShared) return undefined
    if (this.#bytes !== undefined) return this.#known(Blob.ofBytes(this.#bytes))
    if (this.#encoded !== undefined && this.#encoded.encoding === wantedAs)
      return this.#readEncoded(this.#encoded, call)
    // Who goes on by itself gets bytes that the copy has not compared.
    const openRest: OpenRest<BlobCheck> = async (position, soFar, signal) => {
      const check = soFar?.copy() ?? new BlobCheck(this.#digest.content, { fault: 'backend' })
      const rest = await this.#openRest(position, callWith(call, { signal }))
      return rest.through({ stream: () => new Verify(check) })
    }
    return this.#known(Blob.ofPath([copyReader(this.#window, openRest)]))
  }

  /** As it is kept. Of that nobody can ask for the middle: who goes on by itself reads what it has had once more. */
  #readEncoded({ encoding, window }: EncodedWindow, call: Call): Blob {
    const openRest: OpenRest<number> = async (position, checksum, signal) => {
      const range = { ...WHOLE, wantedAs: encoding }
      const blob = await this.#tiers.slow.get(this.#digest, range, callWith(call, { signal }))
      return blob.as(encoding).through({ stream: () => behind(position, checksum ?? 0) })
    }
    return Blob.ofPath([copyReader(window, openRest)], { encoding }).as('IDENTITY', this.#digest.sizeBytes)
  }

  /** What goes to fast. */
  async #open(readAs: CompressorName | undefined): Promise<Blob> {
    const [wantedAs] = this.#tiers.fast.properties.encodings
    const blob = await this.#tiers.slow.get(this.#digest, { ...WHOLE, wantedAs }, this.#call)
    if (!this.#digest.describesContent) return this.#openKeyed(blob)
    const isSmall = this.#digest.sizeBytes <= SMALL_BYTES
    const encoding = isSmall ? undefined : this.#tiers.fast.properties.encodings.find((common) => blob.isIn(common))
    const opened = encoding === undefined ? await this.#openPlain(blob) : this.#openEncoded(blob, encoding, readAs)
    return opened.knownAs(this.#digest).lasting()
  }

  /** Fast believes nothing that slow says without looking. */
  async #openPlain(blob: Blob): Promise<Blob> {
    const checked = blob.checkedAs(this.#digest, this.#check)
    if (this.#digest.sizeBytes <= SMALL_BYTES) {
      return this.#atHand(await checked.bytes(SMALL_BYTES, this.#call))
    }
    const shown = ({ digest, ...check }: PendingCheck): Verify =>
      new Verify(new BlobCheck(digest, check), { repair: check.repair, witness: this.#witness })
    const own = { digest: this.#digest.content, ...this.#check }
    return checked.through({ doesCheck: true, stream: (check = own) => shown(check) })
  }

  /** Shows the readers what passes, compared up to there: none of them has to do that again while it keeps up. */
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

  /** As both tiers keep it, so that nobody encodes it again. It is decoded for the readers, and to look. */
  #openEncoded(blob: Blob, encoding: CompressorName, readAs: CompressorName | undefined): Blob {
    const check = new VerifyDecoded(this.#digest, encoding, this.#check, this.#witness)
    if (readAs === encoding) this.#encoded = { encoding, window: new Window<number>() }
    const shown = this.#encoded === undefined ? [] : [observed(this.#encoded.window)]
    const path = [...blob.as(encoding).path(), check, ...shown] as const
    return Blob.ofPath(path, { encoding }).as('IDENTITY', this.#digest.sizeBytes)
  }

  /**
   * What is kept under a mere key may be replaced meanwhile: who has read a part of it could not go on elsewhere. So it is
   * shared whole or not at all.
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
    return this.#digest.describesContent ? blob.knownAs(this.#digest) : blob
  }

  /** From fast where it is there already; a broken cache is a miss. */
  async #openRest(position: number, call: Call): Promise<Blob> {
    const { fast, slow } = this.#tiers
    const range = { offset: position, limit: Number.POSITIVE_INFINITY }
    const near = await fast.get(this.#digest, range, call).catch(() => undefined)
    return near ?? slow.get(this.#digest, range, call)
  }
}

/** Shows what fast gets to those who want it so. */
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
