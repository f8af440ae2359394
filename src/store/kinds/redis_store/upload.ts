import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { NEVER } from '../../../base/cancellation.js'
import type { Call } from '../../../rpc/call.js'
import { callBackAfter } from '../../../stream/call-back.js'
import { STAGE_BYTES } from '../../../stream/path.js'
import { type BlobKeys, type Commands, LAYOUT_FIELDS } from './commands.js'
import type { RedisArgument } from './connections.js'

export interface UploadOptions {
  readonly commands: Commands
  readonly keys: BlobKeys
  readonly chunkBytes: number
  /** Concurrent chunks on the way to Redis. */
  readonly maxChunks: number
  /** How long the blob is kept at least, in milliseconds; 0 means until it is removed. */
  readonly ttlMs: number
  readonly call: Call
}

/** The leftovers of an interrupted upload expire after this. An active upload renews it well before. */
const UPLOAD_TTL_MS = 60 * 60 * 1000
const REFRESH_MS = UPLOAD_TTL_MS / 6
/** How long reads in flight can still use replaced content. */
const REPLACED_TTL_MS = 10 * 60 * 1000

/**
 * Makes an upload the current blob, atomically and only if it is complete: Redis may have evicted parts of it.
 * Idempotent, for a retry after a lost reply.
 */
const COMMIT = `
local blob, upload, replaced = KEYS[1], KEYS[2], KEYS[3]
local fields, id, ttl, grace = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4]
local isHash = redis.call('TYPE', blob).ok == 'hash'
if isHash and id ~= '' and redis.call('HGET', blob, 'id') == id then return 1 end
local isWhole
local left = redis.call('PTTL', blob)
if fields > 0 then isWhole = redis.call('HLEN', upload) == fields else isWhole = redis.call('EXISTS', upload) == 1 end
if not isWhole then
  redis.call('UNLINK', upload)
  return redis.error_reply('GONE parts of the upload were evicted before it was complete')
end
if isHash then
  redis.call('RENAME', blob, replaced)
  redis.call('PEXPIRE', replaced, grace)
end
redis.call('RENAME', upload, blob)
if ttl > 0 then redis.call('PEXPIRE', blob, math.max(ttl, left)) else redis.call('PERSIST', blob) end
return 1
`

/** Writes a blob that may be there already, and may have been promised for longer. */
const WRITE = `
local ttl = math.max(tonumber(ARGV[2]), redis.call('PTTL', KEYS[1]))
redis.call('SET', KEYS[1], ARGV[1], 'PX', ttl)
return 1
`

/**
 * Stores a blob as one string. If the key does not describe the content, the replaced value stays for reads in flight.
 */
export const putString = async (
  bytes: Buffer,
  describesContent: boolean,
  { commands, keys, ttlMs, call }: UploadOptions,
): Promise<void> => {
  if (describesContent) {
    const write: RedisArgument[] =
      ttlMs > 0 ? ['EVAL', WRITE, '1', keys.blob, bytes, String(ttlMs)] : ['SET', keys.blob, bytes]
    await commands.one(keys.blob, write, call)
    return
  }
  const upload = keys.upload(randomUUID())
  await commands.all(
    [
      [keys.blob, ['SET', upload, bytes, 'PX', String(UPLOAD_TTL_MS)]],
      [keys.blob, commitOf(keys, upload, { fields: 0, id: '', ttlMs })],
    ],
    call,
  )
}

const commitOf = (
  { blob, replaced }: BlobKeys,
  upload: string,
  { fields, id, ttlMs }: { readonly fields: number; readonly id: string; readonly ttlMs: number },
): RedisArgument[] => [
  'EVAL',
  COMMIT,
  '3',
  blob,
  upload,
  replaced,
  String(fields),
  id,
  String(ttlMs),
  String(REPLACED_TTL_MS),
]

/**
 * Uploads a blob as a hash, chunk by chunk, under a temporary key until it is complete. A blob of one chunk becomes a
 * string. After `finish` readers see it. If destroyed earlier, nothing remains.
 */
export class Upload extends Writable {
  readonly #options: UploadOptions
  readonly #describesContent: boolean
  readonly #id = randomUUID()
  readonly #key: string
  readonly #underWay = new Set<Promise<void>>()
  /** Buffers of sent chunks, for reuse, because allocating each one costs more than sending it. */
  readonly #free: Buffer[] = []
  #chunk: Buffer
  #filled = 0
  #count = 0
  #sizeBytes = 0
  #refreshedMs = 0
  #failure: Error | undefined

  constructor(describesContent: boolean, options: UploadOptions) {
    super({ highWaterMark: STAGE_BYTES })
    this.#options = options
    this.#describesContent = describesContent
    this.#key = options.keys.upload(this.#id)
    this.#chunk = Buffer.allocUnsafeSlow(options.chunkBytes)
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    callBackAfter(this, this.#take(bytes), callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    callBackAfter(this, this.#commit(), callback)
  }

  /** Waits for chunks in flight, so that none is written after the key was removed. */
  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (error === null || this.#count === 0) {
      callback(error)
      return
    }
    const { commands } = this.#options
    Promise.allSettled(this.#underWay)
      .then(() => commands.one(this.#key, ['UNLINK', this.#key], { signal: NEVER }))
      // On failure the key expires.
      .catch(() => {})
      .finally(() => callback(error))
  }

  async #take(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (this.#filled === this.#chunk.length) await this.#sendChunk()
      const copied = bytes.copy(this.#chunk, this.#filled, at)
      at += copied
      this.#filled += copied
    }
  }

  async #sendChunk(): Promise<void> {
    const { commands, keys, maxChunks, call, chunkBytes } = this.#options
    while (this.#underWay.size >= maxChunks) await Promise.race(this.#underWay)
    if (this.#failure !== undefined) throw this.#failure
    const buffer = this.#chunk
    const chunk = buffer.subarray(0, this.#filled)
    const sent: (readonly [string, RedisArgument[]])[] = [
      [keys.blob, ['HSET', this.#key, String(this.#count), chunk]],
      ...this.#refresh(),
    ]
    this.#count += 1
    this.#sizeBytes += this.#filled
    this.#chunk = this.#free.pop() ?? Buffer.allocUnsafeSlow(chunkBytes)
    this.#filled = 0
    // Settles only when Redis has answered: `_destroy` must come after it, on any connection.
    const sending: Promise<void> = commands
      .all(sent, call, { outlivesCall: true })
      .then(
        // The buffer of a failed chunk may still be in use, so only successful ones are reused.
        () => void this.#free.push(buffer),
        (error: Error) => {
          this.#failure ??= error
        },
      )
      .finally(() => this.#underWay.delete(sending))
    this.#underWay.add(sending)
  }

  #refresh(): (readonly [string, RedisArgument[]])[] {
    const nowMs = performance.now()
    if (this.#count > 0 && nowMs - this.#refreshedMs < REFRESH_MS) return []
    this.#refreshedMs = nowMs
    return [[this.#options.keys.blob, ['PEXPIRE', this.#key, String(UPLOAD_TTL_MS)]]]
  }

  async #commit(): Promise<void> {
    if (this.#count === 0) {
      await putString(this.#chunk.subarray(0, this.#filled), this.#describesContent, this.#options)
      return
    }
    if (this.#filled > 0) await this.#sendChunk()
    await Promise.all(this.#underWay)
    if (this.#failure !== undefined) throw this.#failure
    const { commands, keys, chunkBytes, ttlMs, call } = this.#options
    const values = { size: this.#sizeBytes, chunk: chunkBytes, id: this.#id }
    const layout = LAYOUT_FIELDS.flatMap((field) => [field, String(values[field])])
    await commands.one(keys.blob, ['HSET', this.#key, ...layout], call)
    const fields = this.#count + LAYOUT_FIELDS.length
    await commands.one(keys.blob, commitOf(keys, this.#key, { fields, id: this.#id, ttlMs }), call)
  }
}
