import { createCipheriv, randomBytes } from 'node:crypto'
import { KIB, MIB, text } from '../content.js'

/** A transfer size and its load. */
export interface Size {
  readonly name: string
  readonly bytes: number
  /** Transfers at the same time. */
  readonly concurrency: number
  readonly least: number
  readonly most: number
  /** Uploads until V8 has compiled their code path, if that takes longer than a warm-up by time. */
  readonly warmUploads?: number
  readonly isSlow: boolean
  /** Bounds for zstd, where creating and checking content is expensive. */
  readonly isSlowAsZstd: boolean
}

export const sizes: readonly Size[] = [
  { name: '1 KiB', bytes: KIB, concurrency: 32, least: 64, most: 20_000, isSlow: false, isSlowAsZstd: false },
  { name: '64 KiB', bytes: 64 * KIB, concurrency: 16, least: 32, most: 4_000, isSlow: false, isSlowAsZstd: false },
  {
    name: '1 MiB',
    bytes: MIB,
    concurrency: 8,
    least: 16,
    most: 400,
    warmUploads: 2000,
    isSlow: false,
    isSlowAsZstd: false,
  },
  { name: '64 MiB', bytes: 64 * MIB, concurrency: 2, least: 2, most: 8, isSlow: false, isSlowAsZstd: true },
  { name: '1 GiB', bytes: 1024 * MIB, concurrency: 1, least: 1, most: 1, isSlow: true, isSlowAsZstd: true },
]

const BLOCK_BYTES = 64 * MIB
const PIECE_BYTES = 4 * KIB
const ZEROS = Buffer.alloc(MIB)
const bases = new Map<string, Buffer>()

/**
 * A new blob. Above 1 MiB it has no chunk of 16 KiB that another blob has, so that a store of chunks finds none of it: noise is new, and text is
 * one long text whose pieces of 4 KiB are in a new order, because creating text takes longer than sending it. Above 64 MiB the text repeats.
 */
export const freshBlob = (bytes: number, isText: boolean): Buffer => {
  if (bytes <= MIB) return isText ? freshText(bytes) : randomBytes(bytes)
  return isText ? shuffledText(bytes) : noise(bytes)
}

/** The key stream of a cipher: five times as fast as `randomBytes`. */
const noise = (bytes: number): Buffer => {
  const blob = Buffer.allocUnsafe(bytes)
  const cipher = createCipheriv('aes-128-ctr', randomBytes(16), randomBytes(16))
  for (let at = 0; at < bytes; at += ZEROS.length) cipher.update(ZEROS.subarray(0, bytes - at)).copy(blob, at)
  return blob
}

const shuffledText = (bytes: number): Buffer => {
  const baseBytes = Math.min(bytes, BLOCK_BYTES)
  const base = bases.get(String(baseBytes)) ?? text(baseBytes)
  bases.set(String(baseBytes), base)
  const order = Uint32Array.from({ length: Math.ceil(baseBytes / PIECE_BYTES) }, (_, piece) => piece)
  const blob = Buffer.allocUnsafe(bytes)
  for (let at = 0, piece = 0; at < bytes; piece = (piece + 1) % order.length) {
    if (piece === 0) shuffle(order)
    const from = (order[piece] ?? 0) * PIECE_BYTES
    at += base.copy(blob, at, from, from + PIECE_BYTES)
  }
  return blob
}

const shuffle = (order: Uint32Array): void => {
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1))
    const moved = order[at] ?? 0
    order[at] = order[other] ?? 0
    order[other] = moved
  }
}

const stamp = (blob: Buffer, at: number): void => void blob.write(randomBytes(16).toString('hex'), at, 'latin1')

/** Cut from one long text: creating text is slow, and the offset makes it new. */
const freshText = (bytes: number): Buffer => {
  const pool = bases.get('pool') ?? text(8 * MIB)
  bases.set('pool', pool)
  const from = Math.floor(Math.random() * (pool.length - bytes))
  const blob = Buffer.from(pool.subarray(from, from + bytes))
  stamp(blob, 0)
  return blob
}
