import { codec } from '../src/proto/codec.js'
import { ChunkingFunction } from '../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Chunking } from '../src/reapi/chunking.js'
import { BYTE_STREAM, CAS, type Digest, digestOf, readPath, write } from './content.js'
import { each } from './load/each.js'
import { type Request, sentBytes } from './load/request.js'
import type { Server } from './server/process.js'

const REAPI = 'build.bazel.remote.execution.v2'
const findRequest = codec(`${REAPI}.FindMissingBlobsRequest`)
const findResponse = codec(`${REAPI}.FindMissingBlobsResponse`)
const spliceRequest = codec(`${REAPI}.SpliceBlobRequest`)
const splitRequest = codec(`${REAPI}.SplitBlobRequest`)
const splitResponse = codec(`${REAPI}.SplitBlobResponse`)
const readRequest = codec('google.bytestream.ReadRequest')
const readResponse = codec('google.bytestream.ReadResponse')

/** A client of a build: it uploads outputs, and another machine that has what it downloaded before downloads them. */
export class ChunkClient {
  readonly #server: Server
  /** Undefined if it knows no chunks. */
  readonly #chunking: Chunking | undefined
  readonly #had = new Map<string, Buffer>()
  /** Bytes of gRPC messages in either direction. */
  uploadedBytes = 0
  downloadedBytes = 0

  constructor(server: Server, chunking: Chunking | undefined) {
    this.#server = server
    this.#chunking = chunking
  }

  async upload(blob: Buffer): Promise<void> {
    const before = this.uploadedBytes
    const blobs = this.#chunking === undefined ? [blob] : chunksOf(blob, this.#chunking)
    for (const missing of await this.#missing(blobs)) await this.#send(write(this.#server, missing))
    if (this.#chunking !== undefined) {
      const list = { blobDigest: digestOf(blob), chunkDigests: blobs.map(digestOf) }
      const chunkingFunction = ChunkingFunction.FAST_CDC_2020
      await this.#send({ path: `${CAS}/SpliceBlob`, messages: [spliceRequest.encode({ ...list, chunkingFunction })] })
    }
    if (this.uploadedBytes === before) throw new Error('nothing was uploaded')
  }

  async download(digest: Digest): Promise<Buffer> {
    if (this.#chunking === undefined) return this.#read(digest)
    const messages = [splitRequest.encode({ blobDigest: digest, chunkingFunction: ChunkingFunction.FAST_CDC_2020 })]
    const [answer = Buffer.alloc(0)] = await this.#send({ path: `${CAS}/SplitBlob`, messages })
    const parts: Buffer[] = []
    for (const chunk of splitResponse.decode(answer).chunkDigests) {
      const part = this.#had.get(chunk.hash) ?? (await this.#read(chunk))
      this.#had.set(chunk.hash, part)
      parts.push(part)
    }
    return Buffer.concat(parts)
  }

  async #missing(blobs: readonly Buffer[]): Promise<readonly Buffer[]> {
    const byHash = new Map(blobs.map((blob) => [digestOf(blob).hash, blob]))
    const messages = [findRequest.encode({ blobDigests: [...byHash.values()].map(digestOf) })]
    const [answer = Buffer.alloc(0)] = await this.#send({ path: `${CAS}/FindMissingBlobs`, messages })
    return findResponse.decode(answer).missingBlobDigests.flatMap(({ hash }) => byHash.get(hash) ?? [])
  }

  async #read(digest: Digest): Promise<Buffer> {
    const messages = [readRequest.encode({ resourceName: readPath(this.#server, digest, 'blobs') })]
    const answers = await this.#send({ path: `${BYTE_STREAM}/Read`, messages })
    return Buffer.concat(answers.map((answer) => readResponse.decode(answer).data))
  }

  async #send(request: Request): Promise<readonly Buffer[]> {
    const answers: Buffer[] = []
    await each(this.#server, [request], { concurrency: 1, check: (message) => void answers.push(message) })
    this.uploadedBytes += sentBytes([request])
    this.downloadedBytes += answers.reduce((sum, { length }) => sum + length, 0)
    return answers
  }
}

const chunksOf = (blob: Buffer, chunking: Chunking): readonly Buffer[] => {
  const cutter = chunking.cutter()
  const chunks: Buffer[] = []
  for (let from = 0; from < blob.length; ) {
    const end = cutter.cut(blob, from, blob.length, true)
    chunks.push(blob.subarray(from, end))
    from = end
  }
  return chunks
}
