const POWERS = ['', 'k', 'm', 'g', 't', 'p', 'e']
const I64_MAX = 2 ** 63

/**
 * Bytes of a size as a configuration writes it: an integer, or text with a decimal unit (`10gb` is 10^10) or a binary one
 * (`10GiB` is 10 * 2^30). The case of a unit does not matter and a lower-case `b` still means bytes. Fractions of a byte
 * are cut off. Throws RangeError with a sentence about what is wrong.
 */
export const parseSize = (value: number | string): number => {
  const text = String(value).trim()
  if (text === '') throw new RangeError('an empty text is no size')
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)$/i.exec(text) ?? []
  if (digits === undefined) throw new RangeError(text.startsWith('-') ? 'a size cannot be negative' : 'this is no size')
  const bytes = Math.floor(exactProduct(digits, factorOf(unit)))
  if (bytes >= I64_MAX) throw new RangeError('this is more than 64 bits can count')
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
