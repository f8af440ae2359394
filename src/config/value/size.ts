const POWERS = ['', 'k', 'm', 'g', 't', 'p', 'e']

/**
 * Parses a size in bytes: an integer, or text with a decimal unit (`10gb` is 10^10) or a binary one (`10GiB`
 * is 10 * 2^30). Units are case-insensitive, and a lower-case `b` means bytes too. Fractions of a byte are
 * cut off. Sizes above 2^53-1 are rejected, because they are not exact. Throws RangeError with a sentence
 * about the fault.
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

/** The exact product: floating point would make 1.1 GB one byte too small. */
const exactProduct = (digits: string, factor: number): number => {
  const [whole = '', fraction = ''] = digits.split('.')
  return Number((BigInt(`${whole}${fraction}`) * BigInt(factor)) / 10n ** BigInt(fraction.length))
}
