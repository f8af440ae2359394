import { randomBytes } from 'node:crypto'
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
const bases = new Map<string, Buffer>()

/**
 * A new blob. Above 64 MiB it repeats a block with a number in each repetition: no code here finds repetitions across
 * 64 MiB, and random gigabytes take longer to create than to send.
 */
export const freshBlob = (bytes: number, isText: boolean): Buffer => {
  if (bytes <= MIB) return isText ? freshText(bytes) : randomBytes(bytes)
  const key = `${Math.min(bytes, BLOCK_BYTES)} ${isText}`
  const known = bases.get(key)
  const base = known ?? (isText ? text : randomBytes)(Math.min(bytes, BLOCK_BYTES))
  bases.set(key, base)
  const blob = Buffer.allocUnsafe(bytes)
  for (let at = 0; at < bytes; at += base.length) {
    base.copy(blob, at)
    stamp(blob, at)
  }
  return blob
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
