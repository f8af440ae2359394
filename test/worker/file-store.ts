import {
  chmodSync,
  copyFileSync,
  createReadStream,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { Call } from '../../src/base/call.js'
import { StatusError } from '../../src/base/status-error.js'
import { Digest } from '../../src/reapi/digest.js'
import { type DigestFunction, digestFunctions } from '../../src/reapi/digest-function.js'
import { asCas } from '../../src/store/cas.js'
import type { BlobFiles, BlobLease, Store } from '../../src/store/store.js'
import type { Range, ReadPath, WritePath } from '../../src/stream/path.js'

/** A store on disk with a tier behind it that a test can look into and damage. `cas` is what a worker is given. */
export class FileStore implements Store {
  /** Blobs that are not here yet, by key. */
  readonly behind = new Map<string, Buffer>()
  readonly written: string[] = []
  readonly leased = new Map<string, number>()
  readonly cas: Store
  readonly files: BlobFiles
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
    mkdirSync(join(directory, 'x'), { recursive: true })
    this.files = {
      lease: (digests) => this.#lease(digests),
      link: async (digest, destination, isExecutable) => this.#link(digest, destination, isExecutable),
      populate: async (digest) => {
        const bytes = this.behind.get(digest.key)
        if (bytes === undefined) throw new StatusError('NOT_FOUND', `no blob ${digest}`)
        if (!existsSync(this.path(digest))) this.#write(digest, bytes)
      },
      drop: async (digest) => this.drop(digest),
    }
    this.cas = asCas(this)
  }

  /** Puts bytes here and tells their digest. */
  put(bytes: Uint8Array | string, digestFunction: DigestFunction = digestFunctions.SHA256): Digest {
    const digest = Digest.of(Buffer.from(bytes), digestFunction)
    this.#write(digest, Buffer.from(bytes))
    return digest
  }

  get(digest: Digest): Buffer {
    return readFileSync(this.path(digest))
  }

  has(digest: Digest): boolean {
    return digest.isEmpty || existsSync(this.path(digest))
  }

  path(digest: Digest): string {
    return join(this.#directory, digest.key)
  }

  async findMissing(digests: readonly Digest[]): Promise<Digest[]> {
    return digests.filter((digest) => !this.has(digest) && !this.behind.has(digest.key))
  }

  async reader(digest: Digest, _range: Range, call: Call): Promise<ReadPath> {
    if (!this.has(digest)) await this.files.populate(digest, call)
    return [createReadStream(this.path(digest))]
  }

  async writer(digest: Digest): Promise<WritePath> {
    const chunks: Buffer[] = []
    return [
      new Writable({
        write: (chunk, _encoding, callback) => {
          chunks.push(chunk)
          callback()
        },
        final: (callback) => {
          this.written.push(digest.key)
          this.#write(digest, Buffer.concat(chunks))
          callback()
        },
      }),
    ]
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
    return { state: 'Ok' as const, structName: 'FileStore', message: '' }
  }

  #write(digest: Digest, bytes: Buffer): void {
    rmSync(this.path(digest), { force: true })
    writeFileSync(this.path(digest), bytes, { mode: 0o444 })
  }

  #executable(digest: Digest): string {
    return join(this.#directory, 'x', digest.key)
  }

  #link(digest: Digest, destination: string, isExecutable: boolean): void {
    if (!this.has(digest)) throw new StatusError('NOT_FOUND', `no blob ${digest}`)
    if (isExecutable && !existsSync(this.#executable(digest))) {
      copyFileSync(this.path(digest), this.#executable(digest))
      chmodSync(this.#executable(digest), 0o555)
    }
    linkSync(isExecutable ? this.#executable(digest) : this.path(digest), destination)
    statSync(destination)
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
      extend,
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
