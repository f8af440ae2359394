import { posix } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { decompress } from '../material/zstd.js'

// Faults that change content at its edges, independent of where they apply.

export interface TextFault {
  readonly name: string
  /** The predicate after "names" or "arguments" in a sentence. */
  readonly does: string
  change(text: string): string
}

const textFault = (name: string, does: string, change: (text: string) => string): TextFault => ({ name, does, change })

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
export const asciiOnly = (text: string): string => text.replaceAll(/[^\u0000-\u007f]/gu, '?')

/** Faults that every name with Unicode letters, spaces or punctuation reveals. */
export const TEXT_FAULTS: readonly TextFault[] = [
  textFault('trimmed', 'lose leading and trailing spaces', (text) => text.trim()),
  textFault('ascii-only', 'have a question mark for each non-ASCII letter', asciiOnly),
  textFault('without-astral', 'lose characters above U+FFFF', (text) =>
    text.replaceAll(/[\u{10000}-\u{10ffff}]/gu, ''),
  ),
  textFault('percent-decoded', 'are decoded as parts of a URL', decoded),
  textFault('unquoted', 'lose their quotes', (text) => text.replaceAll(/['"`]/g, '')),
  textFault('cut-at-128', 'end after 128 characters', (text) => text.slice(0, 128)),
]

/** Faults of file systems and of programs that fold names together. */
export const FOLDING_FAULTS: readonly TextFault[] = [
  textFault('normalised', 'are converted to normal form C', (text) => text.normalize('NFC')),
  textFault('lower-case', 'are converted to lower case', (text) => text.toLowerCase()),
  textFault('one-line', 'lose line ends', (text) => text.replaceAll('\n', '')),
  textFault('slashed', 'have a slash for each backslash, or lose the part before it', (text) =>
    text.slice(text.lastIndexOf('\\') + 1),
  ),
]

export const cleanedTarget = (target: string): string => posix.normalize(target)

export interface BytesFault {
  readonly name: string
  readonly does: string
  change(bytes: Buffer): Buffer
}

const bytesFault = (name: string, does: string, change: (bytes: Buffer) => Buffer): BytesFault => ({
  name,
  does,
  change,
})

const MARK = Buffer.from('\ufeff')
const latin1 = (bytes: Buffer, change: (text: string) => string): Buffer =>
  Buffer.from(change(bytes.toString('latin1')), 'latin1')

/** Faults of streams that are treated as text. */
export const STREAM_FAULTS: readonly BytesFault[] = [
  bytesFault('as-text', 'is decoded as UTF-8 and encoded again', (bytes) => Buffer.from(bytes.toString('utf8'))),
  bytesFault('unix-lines', 'has LF for each CR LF', (bytes) => latin1(bytes, (text) => text.replaceAll('\r\n', '\n'))),
  bytesFault('trimmed', 'loses trailing white space', (bytes) =>
    latin1(bytes, (text) => text.replace(/[\t-\r ]+$/, '')),
  ),
  bytesFault('cut-at-nul', 'ends before the first NUL', (bytes) =>
    bytes.includes(0) ? bytes.subarray(0, bytes.indexOf(0)) : bytes,
  ),
  bytesFault('without-mark', 'loses a byte order mark', (bytes) =>
    bytes.subarray(0, 3).equals(MARK) ? bytes.subarray(3) : bytes,
  ),
  bytesFault('without-colours', 'loses escape sequences', (bytes) =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal would act on
    latin1(bytes, (text) => text.replaceAll(/\u001b\[[0-9;]*m/g, '')),
  ),
]

const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b])

/** The content of a blob that is itself a frame of zstd or a member of gzip. */
export const unpacked = (bytes: Buffer): Buffer => {
  if (bytes.subarray(0, 4).equals(ZSTD_MAGIC)) return decompress(bytes)
  return bytes.subarray(0, 2).equals(GZIP_MAGIC) ? gunzipSync(bytes) : bytes
}

/** Faults of stores that inspect blobs. */
export const BLOB_FAULTS: readonly BytesFault[] = [
  ...STREAM_FAULTS.filter(({ name }) => name !== 'without-colours'),
  bytesFault('unpacked', 'is unpacked if it is compressed', unpacked),
  bytesFault('without-zeros', 'loses trailing zeros', (bytes) => {
    let end = bytes.length
    while (end > 0 && bytes[end - 1] === 0) end--
    return bytes.subarray(0, end)
  }),
]

export interface Entry {
  readonly digest?: { readonly hash: string; readonly sizeBytes: number } | null
}

export interface ListFault {
  readonly name: string
  readonly does: string
  change<E extends Entry>(list: readonly E[], nameOf: (entry: E) => string): E[]
}

export const withoutEqual = <E extends Entry>(list: readonly E[]): E[] =>
  list.filter(({ digest }, at) => !digest || list.findIndex((other) => other.digest?.hash === digest.hash) === at)

/** Faults of lists whose entries have a name and usually a digest. */
export const LIST_FAULTS: readonly ListFault[] = [
  { name: 'end-at-100', does: 'end after a hundred entries', change: (list) => list.slice(0, 100) },
  {
    name: 'lose-equal',
    does: 'contain entries of equal content once',
    change: withoutEqual,
  },
  {
    name: 'lose-empty',
    does: 'omit empty entries',
    change: (list) => list.filter(({ digest }) => digest?.sizeBytes !== 0),
  },
  {
    name: 'lose-hidden',
    does: 'omit entries whose names begin with a dot',
    change: (list, nameOf) => list.filter((entry) => !/(^|\/)\.[^/]*$/.test(nameOf(entry))),
  },
]
