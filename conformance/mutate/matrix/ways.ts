import { isUtf8 } from 'node:buffer'
import { EMPTY_DIGEST } from '../../exam/exam.js'
import type { Any } from '../../wire/methods.js'
import type { Kind } from './places.js'

/** The ways to be wrong, of one value. Lists have ways of their own. */
export type Way = 'dropped' | 'emptied' | 'cut' | 'swapped' | 'normalised' | 're-encoded' | 'rounded' | 'turned over'

export type Alphabet =
  | 'ASCII'
  | 'beyond ASCII'
  | 'another order'
  | 'without case'
  | 'text'
  | 'no text'
  | 'seconds'
  | 'milliseconds'
  | 'microseconds'

/** The ways of a kind that depend on no alphabet; each is tried at every count. */
export const PLAIN_WAYS: Readonly<Record<Kind, readonly Way[]>> = {
  text: ['dropped', 'cut', 'swapped'],
  bytes: ['dropped', 'cut', 'swapped'],
  digest: ['dropped', 'emptied', 'swapped', 'rounded'],
  time: ['dropped', 'swapped'],
  number: ['dropped', 'cut', 'rounded'],
  flag: ['turned over'],
  message: ['dropped'],
  list: [],
}

/** The alphabets of a kind: values of each are dropped, cut and swapped by themselves. */
export const ALPHABETS: Readonly<Partial<Record<Kind, readonly Alphabet[]>>> = {
  text: ['ASCII', 'beyond ASCII', 'another order', 'without case'],
  bytes: ['text', 'no text'],
}

/** The ways of a kind that depend on an alphabet. */
export const LETTER_WAYS: Readonly<Partial<Record<Kind, readonly (readonly [Way, Alphabet])[]>>> = {
  text: [
    ['normalised', 'ASCII'],
    ['normalised', 'beyond ASCII'],
    ['normalised', 'without case'],
    ['re-encoded', 'ASCII'],
    ['re-encoded', 'beyond ASCII'],
    ['re-encoded', 'another order'],
  ],
  bytes: [
    ['normalised', 'text'],
    ['normalised', 'no text'],
    ['re-encoded', 'text'],
    ['re-encoded', 'no text'],
  ],
  time: [
    ['rounded', 'seconds'],
    ['rounded', 'milliseconds'],
    ['rounded', 'microseconds'],
  ],
}

const OTHER_ORDER = /[\u{e000}-\u{10ffff}]/u

/** Whether a value has what is of this alphabet. */
export const isOf = (value: Any, alphabet: Alphabet): boolean => {
  if (typeof value === 'string') {
    if (value === '') return false
    // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
    if (alphabet === 'ASCII') return /^[\u0000-\u007f]+$/.test(value)
    if (alphabet === 'without case') return value !== value.toLowerCase()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
    return alphabet === 'another order' ? OTHER_ORDER.test(value) : /[^\u0000-\u007f]/.test(value)
  }
  return value instanceof Uint8Array && value.length > 0 && isUtf8(value) === (alphabet === 'text')
}

/** The value as a server gives it that is wrong in this way; 'swapped' concerns two values and is not here. */
export const wrongly = (value: Any, way: Exclude<Way, 'swapped'>, alphabet: Alphabet | undefined): Any => {
  if (value === null || value === undefined) return value
  if (typeof value === 'string') return text(value, way, alphabet)
  if (typeof value === 'number') return { dropped: 0, cut: value % 256, rounded: value + 1 }[way as 'cut'] ?? value
  if (typeof value === 'boolean') return !value
  if (value instanceof Uint8Array) return bytes(Buffer.from(value), way, alphabet)
  if ('hash' in value) return digest(value, way)
  if (way === 'rounded' && 'nanos' in value) {
    const nanos = { seconds: 1e9, milliseconds: 1e6, microseconds: 1e3 }[alphabet as 'seconds'] ?? 1
    return { ...value, nanos: value.nanos - (value.nanos % nanos) }
  }
  return null
}

const digest = (value: Any, way: Way): Any => {
  if (way === 'dropped') return null
  return way === 'emptied' ? { ...EMPTY_DIGEST } : { ...value, sizeBytes: value.sizeBytes + 1 }
}

const text = (value: string, way: Way, alphabet: Alphabet | undefined): string => {
  if (way === 'dropped') return ''
  if (way === 'cut') return [...value].slice(0, -1).join('')
  if (way === 'normalised') {
    if (alphabet === 'without case') return value.toLowerCase()
    if (alphabet === 'ASCII')
      return value
        .replaceAll(/ {2,}/g, ' ')
        .replaceAll(/(^|\/)\.\//g, '$1')
        .trim()
    const composed = value.normalize('NFC')
    return composed === value ? value.normalize('NFD') : composed
  }
  if (way !== 're-encoded') return value
  if (alphabet === 'another order') return value.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '\ufffd')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (alphabet === 'beyond ASCII') return value.replaceAll(/[^\u0000-\u007f]/gu, '?')
  return value.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

const MARK = Buffer.from('\ufeff')

const bytes = (value: Buffer, way: Way, alphabet: Alphabet | undefined): Buffer => {
  if (way === 'dropped') return Buffer.alloc(0)
  if (way === 'cut') return value.subarray(0, -1)
  const isText = alphabet === 'text'
  if (way === 're-encoded') {
    if (!isText) return Buffer.from(value.toString('utf8'))
    return value.subarray(0, 3).equals(MARK) ? value.subarray(3) : value
  }
  if (way !== 'normalised') return value
  if (isText)
    return Buffer.from(
      value
        .toString('latin1')
        .replaceAll('\r\n', '\n')
        .replace(/[\t-\r ]+$/, ''),
      'latin1',
    )
  return value.includes(0) ? value.subarray(0, value.indexOf(0)) : value
}

/** The ways of lists: after how many entries they end, equal entries that are one, and other orders. */
export type ListWay = 'counted to a limit' | 'equal merged' | 're-ordered'

export type Order = 'by UTF-16' | 'without case' | 'reversed'

export const ORDERS: readonly Order[] = ['by UTF-16', 'without case', 'reversed']

const labelOf = (entry: Any): string => (typeof entry === 'string' ? entry : String(entry?.name ?? entry?.path ?? ''))

const contentOf = (entry: Any): string =>
  JSON.stringify(entry, (key, value) => (key === 'name' || key === 'path' ? '' : value))

export const withoutEqualContent = (list: readonly Any[]): Any[] => {
  const seen = new Set<string>()
  return list.filter((entry) => seen.size < seen.add(contentOf(entry)).size)
}

export const inOrder = (list: readonly Any[], order: Order): Any[] => {
  if (order === 'reversed') return [...list].reverse()
  const key = (entry: Any): string => (order === 'by UTF-16' ? labelOf(entry) : labelOf(entry).toLowerCase())
  return [...list].sort((a, b) => (key(a) < key(b) ? -1 : Number(key(a) > key(b))))
}
