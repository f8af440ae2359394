import { Readable } from 'node:stream'
import type { HealthStatus } from '../../../base/health.js'
import { StatusError } from '../../../base/status-error.js'
import { BaseStore, PLAIN, type Removal, type StoreProperties } from '../../../blobs/store.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import type { Call } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import { extentOf, type Range, STAGE_BYTES } from '../../../stream/path.js'
import { checkedOnReturn } from '../../remote/checked.js'
import { type Connection, connectionHealth } from '../../remote/connection-health.js'
import type { Extent } from '../../remote/in-order.js'
import { chunksOfHash, chunksOfString } from './chunks.js'
import { type BlobKeys, type Commands, keysOf, type Value } from './commands.js'
import type { RedisArgument } from './connections.js'
import { putString, Upload } from './upload.js'

export interface RedisStoreOptions {
  readonly commands: Commands
  readonly connection: Connection
  readonly keyPrefix: string
  /** Blobs up to this size are strings, larger ones hashes of chunks of this size. */
  readonly chunkBytes: number
  readonly maxChunkUploads: number
  /** How long a blob is kept after its upload or its last existence check, in milliseconds; 0 means forever. */
  readonly ttlMs: number
}

/** Keys in one pipeline. */
const BATCH_KEYS = 500

/** Never shortens a life: another call may have been promised more. */
const EXTEND = `
local left = redis.call('PTTL', KEYS[1])
if left == -2 then return 0 end
if left < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1
`

/** How long a key lives at least after this call; 0 without an end. */
const lifeOf = (ttlMs: number, { keepForMs = 0 }: Pick<Call, 'keepForMs'>): number =>
  ttlMs > 0 ? Math.max(ttlMs, Math.ceil(keepForMs)) : 0

/** Keeps blobs in Redis. Each key changes atomically, so an incomplete blob is never visible. */
export class RedisStore extends BaseStore {
  override readonly properties: StoreProperties
  readonly #options: RedisStoreOptions

  constructor(options: RedisStoreOptions) {
    super()
    this.#options = options
    this.properties = { ...PLAIN, extendsLifetimes: true, retentionMs: options.ttlMs }
  }

  /** Asks in pipelines, and extends the lifetime of present blobs. */
  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const missing: number[] = []
    for (let first = 0; first < digests.count; first += BATCH_KEYS) {
      const count = Math.min(BATCH_KEYS, digests.count - first)
      const questions = Array.from({ length: count }, (_, at) => this.#touch(digests.at(first + at), call))
      const answers = await this.#options.commands.all(questions, call)
      for (const [at, answer] of answers.entries()) if (Number(answer) === 0) missing.push(first + at)
    }
    return digests.select(missing)
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const blob = await this.#read(digest, range, call)
    return checkedOnReturn(blob, digest, range, () => this.remove(digest, 'wrong', call))
  }

  async #read(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const { commands, chunkBytes } = this.#options
    const keys = this.#keys(digest)
    const isLarge = digest.describesContent && digest.sizeBytes > chunkBytes
    const value = await commands.look(keys.blob, isLarge, call)
    if (value === undefined) throw new StatusError('NOT_FOUND', `blob ${digest} is not in the store`)
    const sizeBytes = lengthOf(value)
    if (digest.describesContent && sizeBytes !== digest.sizeBytes) {
      throw new StatusError('DATA_LOSS', `Redis has ${sizeBytes} bytes of blob ${digest}`)
    }
    const extent = extentOf(range, sizeBytes, digest.key)
    const { offset, end } = extent
    if ('bytes' in value) return Blob.ofBytes(value.bytes.subarray(offset, end), { offset })
    const chunks = this.#chunks(keys, value, extent, call)
    const stream = Readable.from(chunks, { objectMode: false, highWaterMark: STAGE_BYTES })
    return Blob.ofPath([stream], { sizeBytes: end - offset, offset })
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const { commands, chunkBytes, maxChunkUploads, ttlMs } = this.#options
    const upload = {
      ...{ commands, keys: this.#keys(digest), chunkBytes, maxChunks: maxChunkUploads },
      ...{ ttlMs: lifeOf(ttlMs, call), call },
    }
    if ((blob.sizeBytes ?? Number.POSITIVE_INFINITY) > chunkBytes) {
      await blob.into([new Upload(digest.describesContent, upload)], call.signal)
      return
    }
    const bytes = await blob.bytes(chunkBytes, call)
    await putString(bytes, digest.describesContent, upload)
  }

  override async remove(digest: Digest, _why: Removal, call: Call): Promise<void> {
    const { blob } = this.#keys(digest)
    await this.#options.commands.one(blob, ['UNLINK', blob], call)
  }

  override health({ signal }: Call): Promise<HealthStatus> {
    return connectionHealth(this.#options.connection, signal)
  }

  /** The reply is 1 if the blob exists; its lifetime is extended. */
  #touch(digest: Digest, call: Call): readonly [key: string, args: RedisArgument[]] {
    const { ttlMs } = this.#options
    const { blob } = this.#keys(digest)
    return [blob, ttlMs > 0 ? ['EVAL', EXTEND, '1', blob, String(lifeOf(ttlMs, call))] : ['TOUCH', blob]]
  }

  #chunks(
    keys: BlobKeys,
    value: Exclude<Value, { bytes: Buffer }>,
    extent: Extent,
    call: Call,
  ): AsyncGenerator<Buffer> {
    const { commands, chunkBytes } = this.#options
    if ('layout' in value) return chunksOfHash(commands, keys, value.layout, extent, call)
    return chunksOfString(commands, keys, chunkBytes, extent, call)
  }

  #keys(digest: Digest): BlobKeys {
    return keysOf(this.#options.keyPrefix, digest)
  }
}

const lengthOf = (value: Value): number => {
  if ('bytes' in value) return value.bytes.length
  return 'layout' in value ? value.layout.sizeBytes : value.stringBytes
}
