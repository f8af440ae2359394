import { Writable } from 'node:stream'
import { STAGE_BYTES } from './path.js'

/** A sink that discards all bytes. */
export class Drain extends Writable {
  constructor() {
    super({ highWaterMark: STAGE_BYTES })
  }

  override _write(_chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    callback()
  }
}
