import { BATCH_HEAD_WORDS, type PackedDigests } from '../../reapi/digest-batch.js'

/** A FindMissingBlobsRequest with at least one digest, whose digests were left where they came. */
export interface PackedRequest {
  readonly instanceName: string
  /** 0 when unset. */
  readonly digestFunction: number
  readonly firstHash: string
  readonly digests: PackedDigests
}

const NAME_TAG = 0x0a
const DIGEST_TAG = 0x12
const FUNCTION_TAG = 0x18
const HASH_TAG = 0x0a
const SIZE_TAG = 0x10
const HEAD_BYTES = 4
const LEAST_HEX_LENGTH = 32
/** Lengths below this are one byte. SHA512 hashes exceed it. */
const VARINT_MORE = 0x80
const WORD = 0x1_0000_0000

/**
 * Reads a request as clients write it: fields in the order of their numbers, digests that are well-formed and all of one
 * length below 128 bytes. Undefined of anything else, valid or not: that is for the codec, which knows every form and
 * says what is wrong. 10,000 digests take a fifth of the time and three allocations.
 */
export const readPacked = (message: Buffer): PackedRequest | undefined => {
  let at = 0
  let instanceName = ''
  if (message[0] === NAME_TAG) {
    const length = message[1] ?? VARINT_MORE
    if (length >= VARINT_MORE) return undefined
    at = 2 + length
    instanceName = message.toString('utf8', 2, at)
  }
  const hexLength = message[at + 3] ?? 0
  if (message[at] !== DIGEST_TAG || hexLength < LEAST_HEX_LENGTH || hexLength % 8 !== 0) return undefined
  const firstHash = message.toString('latin1', at + HEAD_BYTES, at + HEAD_BYTES + hexLength)
  const most = Math.floor((message.length - at) / (HEAD_BYTES + hexLength))
  const wordsEach = BATCH_HEAD_WORDS + (hexLength >>> 3)
  const starts = new Uint32Array(most)
  const words = new Int32Array(most * wordsEach)
  let count = 0
  for (; message[at] === DIGEST_TAG && count < most; count++) {
    const end = readDigest(message, at, hexLength, words, count * wordsEach)
    if (end < 0) return undefined
    starts[count] = at
    at = end
  }
  let digestFunction = 0
  if (message[at] === FUNCTION_TAG) {
    digestFunction = message[at + 1] ?? VARINT_MORE
    if (digestFunction >= VARINT_MORE) return undefined
    at += 2
  }
  if (at !== message.length || count === 0) return undefined
  return { instanceName, digestFunction, firstHash, digests: { message, starts, words, count } }
}

/** Reads the element at `at` into `words`; answers where it ends, -1 when it is not as clients write it. */
const readDigest = (message: Buffer, at: number, hexLength: number, words: Int32Array, first: number): number => {
  const length = message[at + 1] as number
  const end = at + 2 + length
  let from = at + HEAD_BYTES
  const hashEnd = from + hexLength
  if (length >= VARINT_MORE || hashEnd > end || end > message.length) return -1
  if (message[at + 2] !== HASH_TAG || message[at + 3] !== hexLength) return -1
  let seen = 0
  for (let to = first + BATCH_HEAD_WORDS; from < hashEnd; from += 8, to++) {
    const a = NIBBLES[message[from] as number] as number
    const b = NIBBLES[message[from + 1] as number] as number
    const c = NIBBLES[message[from + 2] as number] as number
    const d = NIBBLES[message[from + 3] as number] as number
    const e = NIBBLES[message[from + 4] as number] as number
    const f = NIBBLES[message[from + 5] as number] as number
    const g = NIBBLES[message[from + 6] as number] as number
    const h = NIBBLES[message[from + 7] as number] as number
    seen |= a | b | c | d | e | f | g | h
    words[to] = (a << 28) | (b << 24) | (c << 20) | (d << 16) | (e << 12) | (f << 8) | (g << 4) | h
  }
  if (seen < 0) return -1
  if (from === end) return end
  return message[from] === SIZE_TAG && readSize(message, from + 1, end, words, first) ? end : -1
}

/** Reads a size that fills the element up to `end`. */
const readSize = (message: Buffer, from: number, end: number, words: Int32Array, first: number): boolean => {
  let size = 0
  let scale = 1
  let at = from
  for (; at < end - 1; at++, scale *= VARINT_MORE) {
    const byte = message[at] as number
    if (byte < VARINT_MORE) return false
    size += (byte - VARINT_MORE) * scale
  }
  const last = at < end ? (message[at] as number) : VARINT_MORE
  size += last * scale
  if (last >= VARINT_MORE || size > Number.MAX_SAFE_INTEGER) return false
  words[first] = Math.floor(size / WORD)
  words[first + 1] = size | 0
  return true
}

/** The value of each lower-case hex digit by its character code, -1 of everything else. */
const NIBBLES = Int8Array.from({ length: 256 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code)))
