import { Transform } from 'node:stream'
import type { StatusError } from '../../src/base/status-error.js'
import { ForwardingStore } from '../../src/blobs/forwarding.js'
import { type BlobEntry, type Outcomes, outcomeOf } from '../../src/blobs/store.js'
import type { Digest } from '../../src/reapi/digest.js'
import type { DigestBatch } from '../../src/reapi/digest-batch.js'
import type { Call } from '../../src/rpc/call.js'
import { Blob } from '../../src/stream/blob/blob.js'
import type { Range } from '../../src/stream/path.js'

/** A store that counts reads, and fails on demand. */
export class Watched extends ForwardingStore {
  /** Number of reads, and of bytes returned. */
  reads = 0
  readBytes = 0
  puts = 0
  /** The keys it was asked for with each `findMissing`. */
  readonly questions: string[][] = []
  fails: { write?: StatusError; read?: StatusError; commit?: StatusError } = {}

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    this.questions.push(digests.digests().map(({ key }) => key))
    return super.findMissing(digests, call)
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    this.reads += 1
    if (this.fails.read !== undefined) throw this.fails.read
    return super.get(digest, range, call)
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    this.puts += 1
    if (this.fails.write !== undefined) {
      blob.discard()
      throw this.fails.write
    }
    await super.put(digest, blob, call)
  }

  /** One by one, so that each of them counts and can fail. */
  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    return Promise.all(entries.map(({ digest, blob }) => outcomeOf(this.put(digest, blob, call))))
  }

  protected override incoming(blob: Blob): Blob {
    const { commit } = this.fails
    if (commit === undefined) return blob
    return blob.through({
      windowBytes: 0,
      stream: () =>
        new Transform({
          transform: (chunk: Buffer, _encoding, callback) => callback(null, chunk),
          flush: (callback) => callback(commit),
        }),
    })
  }

  protected override outgoing(blob: Blob): Blob {
    const { sizeBytes, offset } = blob
    const counter = new Transform({
      transform: (chunk: Buffer, _encoding, callback) => {
        this.readBytes += chunk.length
        callback(null, chunk)
      },
    })
    return Blob.ofPath([...blob.path(), counter], { sizeBytes, offset })
  }
}
