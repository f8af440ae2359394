import { gearTable } from './gear.js'
import { GEAR_GREATEST } from './generated/gear-greatest.js'

/** The loop as WebAssembly: `scripts/generate-gear.mjs` has it as text. */
interface Exports {
  readonly memory: WebAssembly.Memory
  greatest(at: number, to: number): number
}

const STATE_AT = 256 * 8
const BYTES_AT = STATE_AT + 16

const instance = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(GEAR_GREATEST, 'base64')))
const { memory, greatest } = instance.exports as unknown as Exports
const place = Buffer.from(memory.buffer)
for (const [byte, value] of gearTable().entries()) place.writeBigUInt64LE(value, byte * 8)
/** Low and high words of the hash and of the greatest one. Little-endian, as WebAssembly is and every machine that Node runs on. */
const state = new Uint32Array(memory.buffer, STATE_AT, 4)

/** The rolling gear hash of 64 bits, and the greatest one. All share the place that bytes are copied to. */
export class GearGreatest {
  hashLow = 0
  hashHigh = 0
  bestLow = 0
  bestHigh = 0

  /** The first position where the hash, including that byte, is the greatest and above the best before; -1 if none is. */
  find(bytes: Buffer, from: number, to: number): number {
    state[0] = this.hashLow
    state[1] = this.hashHigh
    state[2] = this.bestLow
    state[3] = this.bestHigh
    const count = bytes.copy(place, BYTES_AT, from, to)
    const found = greatest(BYTES_AT, BYTES_AT + count)
    this.hashLow = state[0]
    this.hashHigh = state[1]
    this.bestLow = state[2]
    this.bestHigh = state[3]
    return found < 0 ? -1 : from + found - BYTES_AT
  }
}
