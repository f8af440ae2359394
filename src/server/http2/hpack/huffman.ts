import { CompressionError } from './compression-error.js'

// The Huffman code of HPACK (RFC 7541, appendix B) is canonical: codes of one length are consecutive in the order of
// their symbols, followed by those of the next length. So the lengths define the code.
const LENGTHS: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
]
const END_OF_STRING = 256
const MAX_LENGTH = 30

/** By symbol. */
const codes = new Uint32Array(LENGTHS.length)
/** Symbols in the order of their codes. */
const symbols: number[] = []
/** By code length: the first code, the number of codes, and the index of the first symbol in `symbols`. */
const firstCode = new Uint32Array(MAX_LENGTH + 1)
const codeCount = new Uint32Array(MAX_LENGTH + 1)
const firstSymbol = new Uint32Array(MAX_LENGTH + 1)
/** By the next eight bits: length * 256 + symbol if a code of up to eight bits matches, else 0. */
const short = new Uint16Array(256)

for (let length = 1, next = 0; length <= MAX_LENGTH; length++, next *= 2) {
  firstCode[length] = next
  firstSymbol[length] = symbols.length
  for (const [symbol, itsLength] of LENGTHS.entries()) {
    if (itsLength !== length) continue
    if (length <= 8) short.fill((length << 8) | symbol, next << (8 - length), (next + 1) << (8 - length))
    codes[symbol] = next++
    symbols.push(symbol)
  }
  codeCount[length] = symbols.length - (firstSymbol[length] ?? 0)
}

const badPadding = (): CompressionError => new CompressionError('a Huffman-coded string is not padded correctly')

/** Grows with the longest string. A string has at most 8/5 of its coded length. */
let scratch = Buffer.allocUnsafeSlow(1024)

/** Decodes a string; each character is one byte (RFC 7541, 5.2). */
export const decodeHuffman = (bytes: Buffer, start: number, end: number): string => {
  if (scratch.length < (end - start) * 1.6 + 1) scratch = Buffer.allocUnsafeSlow((end - start) * 2)
  const out = scratch
  let length = 0
  let at = start
  let held = 0
  let heldBits = 0
  for (;;) {
    if (heldBits < 8) {
      if (at === end) break
      held = ((held << 8) | (bytes[at++] as number)) & 0xffff
      heldBits += 8
    }
    const found = short[(held >>> (heldBits - 8)) & 0xff] as number
    if (found !== 0) {
      out[length++] = found & 0xff
      heldBits -= found >>> 8
      continue
    }
    // A longer code is read bit by bit, because such codes are rare in headers.
    let code = (held >>> (heldBits - 8)) & 0xff
    heldBits -= 8
    for (let codeBits = 9; ; codeBits++) {
      if (codeBits > MAX_LENGTH) throw new CompressionError('a Huffman code does not exist')
      if (heldBits === 0) {
        // No code matches and no byte follows: more padding than the allowed seven bits.
        if (at === end) throw badPadding()
        held = bytes[at++] as number
        heldBits = 8
      }
      heldBits -= 1
      code = (code << 1) | ((held >>> heldBits) & 1)
      const index = code - (firstCode[codeBits] as number)
      if (index >= (codeCount[codeBits] as number)) continue
      const symbol = symbols[(firstSymbol[codeBits] as number) + index] as number
      if (symbol === END_OF_STRING) throw new CompressionError('a string contains the code for its end')
      out[length++] = symbol
      break
    }
  }
  // Fewer than eight bits are left: short codes, then padding with ones.
  while (heldBits > 0) {
    const ones = 0xff >>> heldBits
    const found = short[((held << (8 - heldBits)) & 0xff) | ones] as number
    if (found === 0 || found >>> 8 > heldBits) {
      if (((held << (8 - heldBits)) & 0xff) !== (0xff & ~ones)) throw badPadding()
      break
    }
    out[length++] = found & 0xff
    heldBits -= found >>> 8
  }
  return out.toString('latin1', 0, length)
}

/** The number of bytes of the coded string. */
export const huffmanLength = (value: string): number => {
  let bits = 0
  for (let at = 0; at < value.length; at++) bits += LENGTHS[value.charCodeAt(at)] as number
  return Math.ceil(bits / 8)
}

/** Appends the coded string to `to`, padded with ones. */
export const encodeHuffman = (to: number[], value: string): void => {
  let byte = 0
  let freeBits = 8
  for (let at = 0; at < value.length; at++) {
    const symbol = value.charCodeAt(at)
    const code = codes[symbol] as number
    for (let left = LENGTHS[symbol] as number; left > 0; ) {
      const taken = Math.min(freeBits, left)
      left -= taken
      freeBits -= taken
      byte |= ((code >>> left) & ((1 << taken) - 1)) << freeBits
      if (freeBits > 0) continue
      to.push(byte)
      byte = 0
      freeBits = 8
    }
  }
  if (freeBits < 8) to.push(byte | (0xff >>> (8 - freeBits)))
}
