import { gearOf } from './fast-cdc.js'

// RepMaxCDC as the API describes it and github.com/buildbarn/go-cdc does it: a chunk ends where the gear hash of the 64
// bytes before is greatest; as long as that makes a chunk of twice the smallest size or more, the same for the bytes before.

/** The gear hash of the bytes before each position, as two halves. Bytes more than 64 before it are shifted out. */
const hashesOf = (bytes: Uint8Array): { high: Uint32Array; low: Uint32Array } => {
  const gear = Array.from({ length: 256 }, (_, byte) => gearOf(byte))
  const [gearHigh, gearLow] = [0, 1].map((half) => Uint32Array.from(gear, (pair) => pair[half] ?? 0))
  const high = new Uint32Array(bytes.length + 1)
  const low = new Uint32Array(bytes.length + 1)
  for (const [at, byte] of bytes.entries()) {
    const [highBefore, lowBefore] = [high[at] ?? 0, low[at] ?? 0]
    const sum = ((lowBefore << 1) >>> 0) + (gearLow?.[byte] ?? 0)
    low[at + 1] = sum
    high[at + 1] = ((highBefore << 1) | (lowBefore >>> 31)) + (gearHigh?.[byte] ?? 0) + (sum > 0xffffffff ? 1 : 0)
  }
  return { high, low }
}

/** The chunk lengths of `bytes`. The end of the blob is no cut: a rest of less than twice the smallest size is one chunk. */
export const repMaxLengths = (bytes: Uint8Array, minBytes: number, horizonBytes: number): number[] => {
  const { high, low } = hashesOf(bytes)
  const firstGreatest = (from: number, to: number): number => {
    let best = from
    for (let at = from + 1; at <= to; at++) {
      const [h, b] = [high[at] ?? 0, high[best] ?? 0]
      if (h > b || (h === b && (low[at] ?? 0) > (low[best] ?? 0))) best = at
    }
    return best
  }
  const lengths: number[] = []
  for (let start = 0; start < bytes.length; start += lengths.at(-1) ?? 0) {
    const knownBytes = Math.min(bytes.length - start, 2 * minBytes + horizonBytes)
    if (knownBytes < 2 * minBytes) {
      lengths.push(knownBytes)
      continue
    }
    let end = firstGreatest(start + minBytes, start + knownBytes - minBytes)
    while (end - start >= 2 * minBytes) end = firstGreatest(start + minBytes, end - minBytes)
    lengths.push(end - start)
  }
  return lengths
}
