import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { StatusError } from '../../src/base/status-error.js'
import { BaseStore, type BlobFiles, type BlobLease, type Store } from '../../src/blobs/store.js'
import { uncounted } from '../../src/ledger/bytes-in-flight.js'
import { Digest } from '../../src/reapi/digest.js'
import type { DigestBatch } from '../../src/reapi/digest-batch.js'
import { type DigestFunction, digestFunctions } from '../../src/reapi/digest-function.js'
import type { Call } from '../../src/rpc/call.js'
import { asCas } from '../../src/store/view/cas.js'
import { Blob } from '../../src/stream/blob/blob.js'
import type { Range } from '../../src/stream/path.js'

/** A store on disk with a slow tier behind it. A test can inspect and damage it. The worker gets `cas`. */
export class FileStore extends BaseStore {
  /** Blobs that are only in the slow tier, by key. */
  readonly behind = new Map<string, Buffer>()
  readonly written: string[] = []
  readonly leased = new Map<string, number>()
  readonly cas: Store
  override readonly files: BlobFiles
  maxBlobBytes = Number.POSITIVE_INFINITY
  readonly #directory: string

  constructor(directory: string) {
    super()
    this.#directory = directory
    mkdirSync(join(directory, 'x'), { recursive: true })
    this.files = {
      lease: async (digests) => this.#lease(digests),
      populate: async (digest) => {
        const bytes = this.behind.get(digest.key)
        if (bytes === undefined) throw new StatusError('NOT_FOUND', `no blob ${digest}`)
        if (!existsSync(this.path(digest))) this.#write(digest, bytes)
      },
      drop: async (digest) => this.drop(digest),
      locate: async (digest, isExecutable) => {
        const path = this.#located(digest, isExecutable)
        const { size: sizeBytes, mtimeMs } = statSync(path)
        return { path, sizeBytes, mtimeMs }
      },
      maxBlobBytes: async () => this.maxBlobBytes,
      reserve: async () => ({
        path: join(directory, `reserved-${randomUUID()}`),
        ...{ isSynced: false, inFlight: uncounted() },
      }),
      adopt: async (digest, { path }) => {
        this.written.push(digest.key)
        renameSync(path, this.path(digest))
        chmodSync(this.path(digest), 0o444)
      },
    }
    this.cas = asCas(this)
  }

  /** Stores bytes here and returns their digest. */
  keep(bytes: Uint8Array | string, digestFunction: DigestFunction = digestFunctions.SHA256): Digest {
    const digest = Digest.of(Buffer.from(bytes), digestFunction)
    this.#write(digest, Buffer.from(bytes))
    return digest
  }

  bytesOf(digest: Digest): Buffer {
    return readFileSync(this.path(digest))
  }

  has(digest: Digest): boolean {
    return digest.isEmpty || existsSync(this.path(digest))
  }

  path(digest: Digest): string {
    return join(this.#directory, digest.key)
  }

  async findMissing(digests: DigestBatch): Promise<DigestBatch> {
    const isMissing = (digest: Digest): boolean => !this.has(digest) && !this.behind.has(digest.key)
    return digests.select(digests.digests().flatMap((digest, index) => (isMissing(digest) ? [index] : [])))
  }

  async get(digest: Digest, _range: Range, call: Call): Promise<Blob> {
    if (!this.has(digest)) await this.files.populate(digest, call)
    return Blob.ofPath([createReadStream(this.path(digest))])
  }

  async put(digest: Digest, blob: Blob, { signal }: Call): Promise<void> {
    const bytes = await blob.bytes(1e9, { signal })
    this.written.push(digest.key)
    this.#write(digest, bytes)
  }

  async remove(digest: Digest): Promise<void> {
    this.drop(digest)
    this.behind.delete(digest.key)
  }

  drop(digest: Digest): void {
    rmSync(this.path(digest), { force: true })
    rmSync(this.#executable(digest), { force: true })
  }

  async health() {
    return { state: 'Ok' as const, message: '' }
  }

  #write(digest: Digest, bytes: Buffer): void {
    rmSync(this.path(digest), { force: true })
    writeFileSync(this.path(digest), bytes, { mode: 0o444 })
  }

  #executable(digest: Digest): string {
    return join(this.#directory, 'x', digest.key)
  }

  #located(digest: Digest, isExecutable: boolean): string {
    if (!this.has(digest)) throw new StatusError('NOT_FOUND', `no blob ${digest}`)
    if (isExecutable && !existsSync(this.#executable(digest))) {
      copyFileSync(this.path(digest), this.#executable(digest))
      chmodSync(this.#executable(digest), 0o555)
    }
    return isExecutable ? this.#executable(digest) : this.path(digest)
  }

  #lease(digests: readonly Digest[]): BlobLease {
    const held: Digest[] = []
    const extend = (more: readonly Digest[]): Digest[] => {
      for (const digest of more.filter((digest) => this.has(digest))) {
        held.push(digest)
        this.leased.set(digest.key, (this.leased.get(digest.key) ?? 0) + 1)
      }
      return more.filter((digest) => !this.has(digest))
    }
    return {
      missing: extend(digests),
      extend: async (more) => extend(more),
      release: () => {
        for (const { key } of held.splice(0)) {
          const count = (this.leased.get(key) ?? 0) - 1
          if (count === 0) this.leased.delete(key)
          else this.leased.set(key, count)
        }
      },
    }
  }
}
