import { lstat, open, unlink } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { StatusError } from '../../base/status-error.js'
import type { BlobFiles, BlobLease, FinishedFile, LocatedBlob, ReservedFile } from '../../blobs/store.js'
import { uncounted } from '../../ledger/bytes-in-flight.js'
import { errorOf } from '../../proto/error-details.js'
import type { LocatedFile } from '../../proto/generated/remexec.worker.v1.js'
import type { Digest } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import type { Call } from '../../rpc/call.js'
import type { Blob } from '../../stream/blob/blob.js'
import { pour } from '../../stream/blob/pour.js'
import { Batches } from './batches.js'
import { inPieces, type LentStoreRequests, messageOf, messagesOf } from './requests.js'

const DIGESTS_AT_A_TIME = 10_000
const FILES_AT_A_TIME = 256
/** Of small blobs, which are sent as bytes. Keeps a message far below the limit of a listener. */
const BYTES_AT_A_TIME = 1024 * 1024
/** Larger blobs are files in every store. */
const MAX_INLINE_BYTES = 256 * 1024
const READ_ONLY = 0o444
const ANY = { function: digestFunctions.SHA256, instanceName: undefined }

interface Wanted {
  readonly digest: Digest
  readonly isExecutable: boolean
}

/** The files of the server's store. The server sends only paths; this process links and creates the files itself. */
export class LentStoreFiles implements BlobFiles {
  readonly #requests: LentStoreRequests
  readonly #located: Batches<Wanted, LocatedFile>
  #maxBlobBytes: Promise<number> | undefined
  #lastLeaseId = 0

  constructor(requests: LentStoreRequests) {
    this.#requests = requests
    this.#located = new Batches({
      maxCount: FILES_AT_A_TIME,
      maxBytes: BYTES_AT_A_TIME,
      bytesOf: ({ digest: { sizeBytes } }) => (sizeBytes > MAX_INLINE_BYTES ? 0 : sizeBytes),
      ask: async (scope, files) => {
        const wanted = files.map(({ digest, isExecutable }) => ({ digest: messageOf(digest), isExecutable }))
        return (await requests.ask(scope, { locate: { files: wanted } })).located
      },
    })
  }

  async lease(digests: readonly Digest[], call: Call): Promise<BlobLease> {
    const leaseId = ++this.#lastLeaseId
    const lease = new LentLease(leaseId, this.#requests, call)
    return lease.begin(digests)
  }

  async locate(digest: Digest, isExecutable: boolean): Promise<LocatedBlob> {
    const { failure, path, data, sizeBytes, mtimeMs, isOnlyCopy } = await this.#located.ask({ digest, isExecutable })
    if (failure !== null) throw errorOf(failure)
    return path === '' ? { bytes: data } : { path, sizeBytes, mtimeMs, isOnlyCopy }
  }

  async populate(digest: Digest, call: Call): Promise<void> {
    await this.#requests.ask(digest, { populate: { digest: messageOf(digest) } }, call)
  }

  async populateTree(root: Digest, call: Call): Promise<void> {
    await this.#requests.ask(root, { populateTree: { digest: messageOf(root) } }, call)
  }

  async drop(digest: Digest, call: Call): Promise<void> {
    await this.#requests.ask(digest, { drop: { digest: messageOf(digest) } }, call)
  }

  /** Asks the server once, because its configuration does not change while it runs. */
  async maxBlobBytes(call: Call): Promise<number> {
    this.#maxBlobBytes ??= this.#requests.ask(ANY, { limits: {} }, { span: call.span }).then(
      ({ maxBlobBytes }) => (maxBlobBytes === 0 ? Number.POSITIVE_INFINITY : maxBlobBytes),
      (error: unknown) => {
        this.#maxBlobBytes = undefined
        throw error
      },
    )
    return this.#maxBlobBytes
  }

  async reserve(call: Call): Promise<ReservedFile> {
    const { place } = await this.#requests.ask(ANY, { reserve: {} }, call)
    if (place === null) throw new StatusError('INTERNAL', 'the server reserved no place for a file')
    return { ...place, inFlight: uncounted() }
  }

  async adopt(digest: Digest, file: FinishedFile, call: Call): Promise<void> {
    const { path, sizeBytes, checksum, mtimeMs } = file
    const adopt = { digest: messageOf(digest), path, sizeBytes, checksum, mtimeMs }
    await this.#requests.ask(digest, { adopt }, call)
  }

  /** Stores a large blob that has no file yet: writes it to a reserved path and adopts the file. */
  async write(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const { path, isSynced } = await this.reserve(call).catch((error: unknown) => {
      blob.discard()
      throw error
    })
    let checksum = 0
    try {
      const file = await open(path, 'wx', READ_ONLY)
      try {
        const take = async (bytes: Buffer): Promise<void> => {
          checksum = crc32(bytes, checksum)
          await file.appendFile(bytes)
        }
        await pour(await blob.take(), take, call.signal)
        if (isSynced) await file.sync()
      } finally {
        await file.close()
      }
      const { size: sizeBytes, mtimeMs } = await lstat(path)
      await this.adopt(digest, { path, sizeBytes, checksum, mtimeMs }, call)
    } catch (error) {
      blob.discard()
      await unlink(path).catch(() => {})
      throw error
    }
  }
}

class LentLease implements BlobLease {
  missing: readonly Digest[] = []
  readonly #leaseId: number
  readonly #requests: LentStoreRequests
  readonly #call: Call
  #isHeld = true

  constructor(leaseId: number, requests: LentStoreRequests, call: Call) {
    this.#leaseId = leaseId
    this.#requests = requests
    this.#call = call
  }

  async begin(digests: readonly Digest[]): Promise<this> {
    try {
      this.missing = await this.extend(digests)
      return this
    } catch (error) {
      this.release()
      throw error
    }
  }

  async extend(digests: readonly Digest[]): Promise<readonly Digest[]> {
    const missing: Digest[] = []
    for (const piece of inPieces(digests, DIGESTS_AT_A_TIME)) {
      const [first] = piece
      if (first === undefined) continue
      const lease = { leaseId: this.#leaseId, digests: messagesOf(piece) }
      // No signal: if the wait were cancelled, the server might create the lease after its release.
      const answer = await this.#requests.ask(first, { lease }, { span: this.#call.span })
      const keys = new Set((answer.missing?.digests ?? []).map(({ hash, sizeBytes }) => `${hash}-${sizeBytes}`))
      missing.push(...piece.filter(({ content: { hash, sizeBytes } }) => keys.has(`${hash}-${sizeBytes}`)))
    }
    return missing
  }

  release(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#requests.send({ release: { leaseId: this.#leaseId } })
  }
}
