import { isUtf8 } from 'node:buffer'
import { StatusError } from '../base/status-error.js'

const NAME_TAG = 0x0a
const VARINT_BYTES = 10

/**
 * The instance_name (field 1) of an encoded request, without decoding the rest. If it occurs several times,
 * the last one counts, as in every codec. Throws INVALID_ARGUMENT if decoders could disagree about it.
 */
export const instanceNameIn = (message: Buffer): string => {
  let name = ''
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 0; shift < VARINT_BYTES; shift++) {
      const byte = message[at++] ?? broken()
      value += (byte & 0x7f) * 2 ** (7 * shift)
      if (byte < 0x80) return value
    }
    return broken()
  }
  while (at < message.length) {
    const tag = varint()
    if (tag >>> 3 === 1 && tag !== NAME_TAG) broken()
    const wireType = tag & 7
    if (wireType === 0) varint()
    else if (wireType === 1) at += 8
    else if (wireType === 5) at += 4
    else if (wireType === 2) {
      const length = varint()
      if (tag === NAME_TAG) {
        if (!isUtf8(message.subarray(at, at + length))) broken()
        name = message.toString('utf8', at, at + length)
      }
      at += length
    } else broken()
    if (at > message.length) broken()
  }
  return name
}

const broken = (): never => {
  throw new StatusError('INVALID_ARGUMENT', 'the request message cannot be decoded')
}
