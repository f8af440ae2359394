const POWERS = ['', 'k', 'm', 'g', 't', 'p', 'e']

/**
 * Bytes of a size as a configuration writes it: an integer, or text with a decimal unit (`10gb` is 10^10) or a binary one
 * (`10GiB` is 10 * 2^30). The case of a unit does not matter and a lower-case `b` still means bytes. Fractions of a byte
 * are cut off; above 2^53-1 bytes a size could not be kept exactly and is refused. Throws RangeError with a sentence about what is wrong.
 */
export const parseSize = (value: number | string): number => {
  const text = String(value).trim()
  if (text === '') throw new RangeError('an empty text is no size')
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)$/i.exec(text) ?? []
  if (digits === undefined) throw new RangeError(text.startsWith('-') ? 'a size cannot be negative' : 'this is no size')
  const bytes = exactProduct(digits, factorOf(unit))
  if (bytes > Number.MAX_SAFE_INTEGER)
    throw new RangeError(`this is more than ${Number.MAX_SAFE_INTEGER} bytes, the largest size there is`)
  return bytes
}

const factorOf = (unit: string): number => {
  const [, prefix, binary] = /^([kmgtpe]?)(i?)b?$/.exec(unit.toLowerCase()) ?? []
  if (prefix === undefined || (binary && prefix === '')) throw new RangeError(`"${unit}" is no unit of size`)
  return (binary ? 1024 : 1000) ** POWERS.indexOf(prefix)
}

/** The product without the error of binary fractions: 1.1 GB are 1100000000 bytes, not one less. */
const exactProduct = (digits: string, factor: number): number => {
  const [whole = '', fraction = ''] = digits.split('.')
  return Number((BigInt(`${whole}${fraction}`) * BigInt(factor)) / 10n ** BigInt(fraction.length))
}
