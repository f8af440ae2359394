import { gearTable } from './gear.js'
import { GEAR_SCAN } from './generated/gear-scan.js'

/** The loop as WebAssembly: `scripts/generate-gear.mjs` has it as text. */
interface Scan {
  readonly memory: WebAssembly.Memory
  readonly hash: { value: bigint }
  scan(at: number, to: number, mask: bigint): number
}

const VALUE_BYTES = 8
const BLOCK_AT = 256 * VALUE_BYTES
/** The bytes of a call, which stay in the processor's first cache. */
const BLOCK_BYTES = 32 * 1024

const instance = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(GEAR_SCAN, 'base64')))
const { memory, hash, scan } = instance.exports as unknown as Scan
const place = Buffer.from(memory.buffer)
for (const [byte, value] of gearTable().entries()) place.writeBigUInt64LE(value, byte * VALUE_BYTES)

/** The rolling gear hash of 64 bits, over bytes that come in parts. All calls share the place they copy bytes to. */
export class GearScan {
  #hash = 0n

  reset(): void {
    this.#hash = 0n
  }

  /** The first position from `from` where the hash, including that byte, has no bit of the mask; `to` if there is none. */
  find(bytes: Buffer, from: number, to: number, mask: bigint): number {
    hash.value = this.#hash
    for (let at = from; at < to; at += BLOCK_BYTES) {
      const count = bytes.copy(place, BLOCK_AT, at, Math.min(to, at + BLOCK_BYTES))
      const found = scan(BLOCK_AT, BLOCK_AT + count, mask) - BLOCK_AT
      if (found < count) return at + found
    }
    this.#hash = hash.value
    return to
  }
}
