import { codec } from '../../src/proto/codec.js'
import { zstdCompress } from '../../src/stream/compression/zstd.js'
import type { RateCase } from '../case.js'
import { BYTE_STREAM, type Digest, digestOf, MIB, readPath, write } from '../content.js'
import { compressionLimit } from '../limits.js'
import { each } from '../load/each.js'
import { repeat } from '../load/h2load.js'
import type { Request } from '../load/request.js'
import type { Server } from '../server/process.js'
import { freshBlob, type Size, sizes } from './sizes.js'

const readRequest = codec('google.bytestream.ReadRequest')
const ZSTD = 'compressed-blobs/zstd'

export const readRequestOf = (server: Server, digest: Digest, form: string): Request => ({
  path: `${BYTE_STREAM}/Read`,
  messages: [readRequest.encode({ resourceName: readPath(server, digest, form) })],
})

/** Content is created when the case begins and dropped when it ends, because gigabytes would add up. */
class Subject {
  readonly #size: Size
  readonly #isText: boolean
  #blob: Buffer | undefined
  #digest: Digest | undefined
  #wireBytes = 0

  constructor(size: Size, isText: boolean) {
    this.#size = size
    this.#isText = isText
  }

  get blob(): Buffer {
    this.#blob ??= freshBlob(this.#size.bytes, this.#isText)
    return this.#blob
  }

  get digest(): Digest {
    this.#digest ??= digestOf(this.blob)
    return this.#digest
  }

  /** The reply size for a bare handler: the name asks for as many bytes as zstd produces for this blob. */
  get bareDigest(): Digest {
    if (!this.#isText) return this.digest
    if (this.#wireBytes === 0) this.#wireBytes = zstdCompress(this.blob).length
    return { hash: this.digest.hash, sizeBytes: this.#wireBytes }
  }

  forget(): void {
    this.#blob = undefined
  }
}

export const readCase = (size: Size, isZstd: boolean): RateCase => {
  const subject = new Subject(size, isZstd)
  const form = isZstd ? ZSTD : 'blobs'
  const drive = (server: Server, digest: Digest, requests: number) =>
    repeat(server, readRequestOf(server, digest, form), { requests, concurrency: size.concurrency })
  return {
    kind: 'rate',
    name: `ByteStream.Read ${size.name}${isZstd ? ' zstd' : ''}`,
    unit: size.bytes < MIB ? 'op' : 'MiB',
    unitsPerRequest: size.bytes < MIB ? 1 : size.bytes / MIB,
    requests: { least: size.least, most: size.most },
    isSlow: isZstd ? size.isSlowAsZstd : size.isSlow,
    setUp: async (server) => {
      await each(server, [write(server, subject.blob)], { concurrency: 1 })
      await each(server, [readRequestOf(server, subject.digest, form)], { concurrency: 1 })
    },
    run: (server, requests) => drive(server, subject.digest, requests),
    limits: [
      { name: 'bare handler', usesBare: true, run: (bare, requests) => drive(bare, subject.bareDigest, requests) },
      ...(isZstd ? [compressionLimit(() => subject.blob)] : []),
    ],
    tearDown: async () => subject.forget(),
  }
}

/**
 * The same blob repeatedly, from the page cache. With zstd the blob is text, stored as identity and compressed for each
 * read.
 */
export const readCases = (): readonly RateCase[] =>
  sizes.flatMap((size) => [readCase(size, false), readCase(size, true)])
