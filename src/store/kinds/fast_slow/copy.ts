import type { Duplex } from 'node:stream'
import { crc32 } from 'node:zlib'
import { StatusError } from '../../../base/status-error.js'
import { outcomeOf, type Store } from '../../../blobs/store.js'
import type { SparingLog } from '../../../log/sparing-log.js'
import type { CompressorName } from '../../../reapi/compressor.js'
import type { Digest } from '../../../reapi/digest.js'
import { type Call, internalCall } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import type { Encoding } from '../../../stream/blob/stage.js'
import { BlobCheck } from '../../../stream/blob-check.js'
import { Loop } from '../../../stream/loop.js'
import { WHOLE } from '../../../stream/path.js'
import { type PendingCheck, Verify, type Witness } from '../../../stream/verify.js'
import { VerifyDecoded } from '../../../stream/verify-decoded.js'
import { TimeSlices } from '../../../work/time-slices.js'
import { isNews } from './failures.js'
import { WINDOW_BYTES, Window } from './window.js'

export interface CopyTiers {
  readonly fast: Store
  readonly slow: Store
  readonly log: SparingLog
  /** Removes a damaged blob from slow. */
  repair(digest: Digest, call: Call): Promise<void>
}

/** Blobs up to this size are copied as one buffer: readers need no stream. */
const SMALL_BYTES = 64 * 1024

/** How long a copy may block the event loop. Its readers run after that. */
const SLICE_MS = 1

/** An open copy: the bytes for fast, and what readers share. */
type Open = { readonly blob: Blob } & (
  | { readonly readers: 'bytes'; readonly bytes: Buffer }
  | { readonly readers: 'window'; readonly window: Pick<Window<never>, 'read' | 'end'>; readonly encoding: Encoding }
  | { readonly readers: 'none' }
)

/**
 * The copy of one blob from slow to fast, and its readers. It runs at the pace of the two stores, waits for no reader, and
 * goes on when the call that began it has ended.
 *
 *     opening ── slow lacks the blob, or fails ──────► over
 *        └─────► open ── fast has it or failed ──────► over
 *
 * While it is open, readers share
 * - `bytes`: all of a small blob, or of a not too large one under a key;
 * - `window`: the latest bytes. They pass a check before readers and fast get them. A reader that falls behind leaves the
 *   copy: it reads on by itself at its position, and with the check at its position. So it does if fast fails. If the
 *   bytes are wrong (DATA_LOSS), it fails with the copy;
 * - `none`: the bytes of a large blob under a key, which may be replaced, so that there is no rest elsewhere.
 *
 * `outdate` may come at any time, when the blob was written or removed. The copy then gets no more readers, and is removed
 * from fast at its end.
 */
export class Copy {
  /** Resolves when slow has answered. Rejects when slow lacks the blob or failed. */
  readonly opened: Promise<Open>
  /** Resolves when the copy has ended: undefined if fast has the blob, else the reason why not. */
  readonly over: Promise<StatusError | undefined>
  readonly #digest: Digest
  readonly #tiers: CopyTiers
  readonly #call: Call
  #isOutdated = false

  /** `call` is the copy's own; it is aborted when the store closes. `readAs` is the encoding that the first reader wants. */
  constructor(digest: Digest, tiers: CopyTiers, call: Call, readAs: CompressorName | undefined) {
    this.#digest = digest
    this.#tiers = tiers
    this.#call = call
    this.opened = this.#open(readAs)
    this.over = outcomeOf(this.opened.then((open) => this.#store(open)))
  }

  get isOutdated(): boolean {
    return this.#isOutdated
  }

  outdate(): void {
    this.#isOutdated = true
  }

  /** The blob for a reader, once `opened`. Undefined when the copy cannot be shared. */
  read(open: Open, call: Call): Blob | undefined {
    if (open.readers === 'none') return undefined
    if (open.readers === 'bytes') return this.#right(Blob.ofBytes(open.bytes))
    const { window, encoding } = open
    return this.#right(Blob.ofPath([window.read(call)], { encoding })).as('IDENTITY', this.#digest.sizeBytes)
  }

  async #open(readAs: CompressorName | undefined): Promise<Open> {
    const { fast, slow } = this.#tiers
    const { describesContent, sizeBytes } = this.#digest
    const { encodings } = fast.properties
    const blob = await slow.get(this.#digest, { ...WHOLE, wantedAs: encodings[0] }, this.#call)
    const isSmall = describesContent ? sizeBytes <= SMALL_BYTES : (blob.sizeBytes ?? Infinity) <= WINDOW_BYTES
    if (isSmall) {
      const checked = describesContent ? blob.verify(this.#digest, this.#check) : blob
      const bytes = await checked.bytes(WINDOW_BYTES, this.#call)
      return { blob: this.#right(Blob.ofBytes(bytes)), readers: 'bytes', bytes }
    }
    if (!describesContent) return { blob, readers: 'none' }
    const encoding = encodings.find((common) => blob.isIn(common))
    return encoding === undefined ? this.#openPlain(blob) : this.#openEncoded(blob, encoding, readAs)
  }

  #openPlain(blob: Blob): Open {
    const window = this.#plainWindow()
    const stream = ({ digest, repair, ...check } = this.#check): Verify =>
      new Verify(new BlobCheck(digest, check), { repair, witness: witnessOf(window) })
    const checked = blob.verify(this.#digest, this.#check).through({ doesCheck: true, windowBytes: 0, stream })
    return { blob: this.#right(checked).immutable(), readers: 'window', window, encoding: 'IDENTITY' }
  }

  /** Copies the encoding that both tiers store. It is decoded for the check, and for readers unless the first wants it so. */
  #openEncoded(blob: Blob, encoding: CompressorName, readAs: CompressorName | undefined): Open {
    const { digest, ...check } = this.#check
    const path = blob.as(encoding).path()
    const copied = (...stages: Duplex[]): Blob =>
      this.#right(Blob.ofPath([...path, ...stages], { encoding }).as('IDENTITY', digest.sizeBytes)).immutable()
    if (readAs === encoding) {
      const window = this.#encodedWindow(encoding)
      const stages = [new VerifyDecoded(digest, encoding, check), observed(window)]
      return { blob: copied(...stages), readers: 'window', window, encoding }
    }
    const window = this.#plainWindow()
    const stage = new VerifyDecoded(digest, encoding, check, witnessOf(window))
    return { blob: copied(stage), readers: 'window', window, encoding: 'IDENTITY' }
  }

  /** The mark is the state of the hash. The rest comes from fast if that has the blob already; its failure is a miss. */
  #plainWindow(): Window<BlobCheck> {
    return new Window(async (position, soFar, call) => {
      const { fast, slow } = this.#tiers
      const range = { offset: position, limit: Infinity }
      const near = await fast.get(this.#digest, range, call).catch(() => undefined)
      const rest = near ?? (await slow.get(this.#digest, range, call))
      const check = soFar?.copy() ?? new BlobCheck(this.#digest.content, { fault: 'backend' })
      return rest.through({ windowBytes: 0, stream: () => new Verify(check) })
    })
  }

  /** The mark is the CRC-32 of the bytes so far. An encoding cannot be read from the middle, so the rest skips them. */
  #encodedWindow(encoding: CompressorName): Window<number> {
    return new Window(async (position, checksum = 0, call) => {
      const stored = await this.#tiers.slow.get(this.#digest, { ...WHOLE, wantedAs: encoding }, call)
      const checked = stored.as(encoding).verify(this.#digest, { fault: 'backend' })
      return checked.through({ windowBytes: 0, stream: () => behind(position, checksum) })
    })
  }

  async #store(open: Open): Promise<void> {
    const { fast, log } = this.#tiers
    try {
      await fast.put(this.#digest, open.blob, this.#call)
    } catch (thrown) {
      const error = StatusError.from(thrown)
      if (open.readers === 'window') open.window.end(error)
      if (isNews(error, this.#call))
        log.warn('a copy from the slow store to the fast one failed', { digest: this.#digest.key, error })
      throw error
    } finally {
      if (this.#isOutdated) await fast.remove(this.#digest, 'unwanted', internalCall({ log: this.#call.log }))
    }
  }

  /** Marks bytes that are or will be checked; those under a key cannot be. */
  #right(blob: Blob): Blob {
    return this.#digest.describesContent ? blob.assumeVerified(this.#digest) : blob
  }

  get #check(): PendingCheck {
    const repair = (): Promise<void> => this.#tiers.repair(this.#digest, internalCall({ log: this.#call.log }))
    return { digest: this.#digest.content, fault: 'backend', repair }
  }
}

/** Shows checked bytes to the readers. Such a copy between two tiers that never wait blocks the event loop for a slice at most. */
const witnessOf = (window: Window<BlobCheck>): Witness => {
  const slices = new TimeSlices(SLICE_MS)
  return {
    passed: (bytes, soFar) => {
      window.add(bytes, soFar.copy())
      return slices.step()
    },
    ended: () => window.end(),
  }
}

/** Shows encoded bytes, which were checked, to the readers. */
const observed = (window: Window<number>): Loop =>
  new Loop(async function* (input) {
    let checksum = 0
    for await (const bytes of input) {
      checksum = crc32(bytes, checksum)
      window.add(bytes, checksum)
      yield bytes
    }
    window.end()
  })

/** Skips the bytes that a reader already has. They must be the same, because the stored encoding may have changed. */
const behind = (position: number, checksum: number): Loop =>
  new Loop(async function* (input) {
    let skippedBytes = 0
    let found = 0
    for await (const chunk of input) {
      const skipped = chunk.subarray(0, position - skippedBytes)
      skippedBytes += skipped.length
      found = crc32(skipped, found)
      if (skippedBytes === position && found !== checksum) throw new StatusError('UNAVAILABLE', REPLACED)
      yield chunk.subarray(skipped.length)
    }
  })

const REPLACED = 'the blob was uploaded again, compressed otherwise, while it was read: read it again'
