import { fileFailure } from '../../../base/errno.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Call } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import { FileSource, readFile } from '../../../stream/blob/file.js'
import { extentOf, isWhole, type Range } from '../../../stream/path.js'
import { FilePart } from './files/file-part.js'
import type { Inspection, Opened } from './inspection.js'
import { ATTEMPTS_MAX, type Located, notFound } from './located.js'
import type { ReadCatalog } from './read-catalog.js'

/** Ranges up to this length are read during `get`: open, read, close, without a stream that holds a descriptor. */
const READ_AT_ONCE_BYTES = 64 * 1024

/** What an attempt to read a file has seen. */
interface Seen {
  isIntact: boolean
}

/** Reads of blobs on disk. */
export class Reads {
  readonly #catalog: ReadCatalog
  readonly #inspection: Inspection
  readonly #bufferBytes: number

  /** `bufferBytes`: per read from a file. */
  constructor(catalog: ReadCatalog, inspection: Inspection, bufferBytes: number) {
    this.#catalog = catalog
    this.#inspection = inspection
    this.#bufferBytes = bufferBytes
  }

  async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    let seen: Seen = { isIntact: false }
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const located = this.#catalog.locate(digest, call)
      extentOf(range, located.storedBytes, digest.key)
      if (located.kind === 'packed') {
        const blob = await this.#packed(located, range)
        if (blob !== undefined) return blob
      } else if (located.kind === 'bytes') {
        const bytes = await this.#inspection.readInline(located).catch((error: unknown) => {
          throw fileFailure(error, `could not read blob ${digest.key}`)
        })
        if (bytes !== undefined) return Blob.ofPart(bytes, range, digest.key)
      } else {
        const opened = await this.#inspection.openFile(located)
        // Uploaded again and again, each time complete: it was intact, and is a later file by now.
        const isTrusted = attempt > ATTEMPTS_MAX / 2 && seen.isIntact
        seen = { isIntact: false }
        const blob = opened && (await this.#blobOf(opened, located, range, { isTrusted, seen }))
        if (blob !== undefined) return blob
      }
    }
    throw notFound(digest)
  }

  async #packed(located: Located, range: Range): Promise<Blob | undefined> {
    const { offset, end } = extentOf(range, located.storedBytes, located.digest.key)
    const part = await this.#inspection.openPacked(located, { offset, end }, this.#bufferBytes)
    if (part === undefined) return undefined
    return end - offset <= READ_AT_ONCE_BYTES
      ? Blob.ofBytes(await readFile(part), { offset })
      : Blob.ofFile(part, { offset })
  }

  /** Undefined when the blob changed, or proved damaged, while it was opened. */
  async #blobOf(
    { file, stats }: Opened,
    located: Located,
    range: Range,
    { isTrusted, seen }: { readonly isTrusted: boolean; readonly seen: Seen },
  ): Promise<Blob | undefined> {
    const inspection = this.#inspection
    const { digest, storedBytes } = located
    const { offset, end } = extentOf(range, storedBytes, digest.key)
    const sizeBytes = end - offset
    const part = new FilePart({
      ...{ file, key: digest.key, offset, end, bufferBytes: this.#bufferBytes },
      onTorn: () => void this.#catalog.dropDamaged(located, 'gone'),
    })
    const isAtOnce = sizeBytes <= READ_AT_ONCE_BYTES
    const isUnchecked = !isTrusted && isWhole(range, storedBytes) && !inspection.trusts(located, stats)
    if ((!isTrusted && inspection.suspects(located, stats)) || (isUnchecked && isAtOnce)) {
      await part.close()
      seen.isIntact = (await inspection.check(located)) !== 'damaged'
      return undefined
    }
    if (!isUnchecked) {
      return isAtOnce ? Blob.ofBytes(await readFile(part), { offset }) : Blob.ofFile(part, { offset })
    }
    const checksum = await inspection.checksumOf(located)
    if (checksum === undefined) {
      await part.close()
      return undefined
    }
    const hasher = inspection.wantsDigest(located) ? digest.function.createHasher(digest.sizeBytes) : undefined
    const done = (isAsWritten: boolean): Promise<boolean> =>
      inspection.readWhole(located, stats, { isAsWritten, hash: hasher?.digest() })
    return Blob.ofPath([new FileSource(part.checked(checksum, hasher, done))], { sizeBytes, offset })
  }
}
