import { gzipSync } from 'node:zlib'
import type { Exam } from '../exam/exam.js'
import { compress } from './zstd.js'

// Content at its edges: names that programs tend to change, bytes that are not text, and counts above one hundred.

/** More than one page, batch or list of a hundred or a thousand entries. */
export const MANY = 1_510

/** Why a server may refuse the largest of these lists; what it takes must be right. */
export const MANY_AT_ONCE = 'no text says how many entries a server must take'

/** Why a server may refuse these names and texts; what it takes must be right. */
export const UNUSUAL = 'no text says which names and texts a server must take'

/** Names of many entries. Each has something for every program that changes names, so that none is spared. */
export const manyNames = (prefix: string): string[] =>
  Array.from({ length: MANY }, (_, at) => `${prefix}  \u00dcber \u{1f980} %41 ${at} `)

/** Names that every file system with Unicode names keeps. No two differ in case or normal form alone. */
export const UNUSUAL_NAMES: readonly string[] = [
  ' begins and ends with a space ',
  '-n',
  '--',
  '.hidden',
  '..twice',
  'trailing.',
  '~',
  '#',
  '$HOME',
  '`id`',
  '%2e%2e',
  '*?[a]',
  `it's "quoted"`,
  'a;b&c|d',
  'a:b',
  '__proto__',
  'constructor',
  'null',
  '0',
  '\u00fcber',
  '\u65e5\u672c\u8a9e',
  'crab \u{1f980}',
  '\u202eright to left',
  // These sort one way by bytes, another by UTF-16 units, and another without case.
  'Zebra',
  '\uff5etilde',
  '\u{10348}gothic',
  'n'.repeat(200),
]

/** How names begin that sort one way by bytes, another by UTF-16 units, and another without case. */
export const FIRST = ['Zebra', 'alpha', '\uff5e', '\u{10348}'] as const

/** Names that some file systems reject or fold: control characters, a backslash, case, and normal forms. */
export const FOLDED_NAMES: readonly string[] = [
  'new\nline',
  'tab\there',
  'bell\u0007',
  'back\\slash',
  'Case',
  'case',
  'caf\u00e9',
  'cafe\u0301',
  '\ufeffmark',
]

/** Symlink targets that a program may normalise. None has `//` or `/./`, which the canonical form forbids. */
export const UNUSUAL_TARGETS: readonly string[] = [
  './a',
  'a/.',
  'a/',
  'a/../b',
  ' ',
  '-n',
  '$HOME',
  'a\\b',
  'new\nline',
  'cafe\u0301',
  '\u{1f980}',
  '%41  \u00fcb',
  `${'long/'.repeat(150)}target`,
]

/**
 * A target without its `.` components, which change nothing: SymlinkNode.target recommends to leave them out, so that a server
 * which makes symlinks may.
 */
export const canonicalTarget = (target: string): string =>
  target.replaceAll(/(^|\/)(?:\.\/)+/g, '$1').replace(/(^|\/)\.$/, '$1') || '.'

/** Every byte value, each kind of line end, terminal escape sequences, and a byte order mark. */
export const EVERY_BYTE = Buffer.concat([
  Buffer.from('\ufeffmark\r\nline\n\rcolour \u001b[31mred\u001b[0m\u0008\n'),
  Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
  Buffer.from([0xc0, 0x80, 0xed, 0xa0, 0x80, 0xff, 0xfe, 0x00, 0x0d, 0x0a, 0x20, 0x0a, 0x00, 0x00]),
])

/** The same bytes as a stream that ends in white space. */
export const EVERY_BYTE_AND_SPACE = Buffer.concat([EVERY_BYTE, Buffer.from(' \n\n')])

/** Blobs that programs which inspect content tend to change. Each is new to the run. */
export const unusualBlobs = (exam: Exam): readonly Buffer[] => {
  const fresh = (): Buffer => exam.random(16)
  const text = (): Buffer => Buffer.from(exam.uuid())
  return [
    Buffer.concat([fresh(), EVERY_BYTE]),
    Buffer.concat([Buffer.from([0, 0]), fresh(), Buffer.alloc(5_000)]),
    Buffer.concat([Buffer.from('\ufeff'), text(), Buffer.from('\r\n\r\n')]),
    Buffer.concat([text(), Buffer.from(' \n')]),
    compress(Buffer.concat([fresh(), Buffer.alloc(3_000, 'frame ')])),
    gzipSync(Buffer.concat([fresh(), Buffer.alloc(3_000, 'member ')])),
    Buffer.from(JSON.stringify({ hash: exam.uuid(), 'sizeBytes ': 1.5, text: '\u2028\u{1f980}' })),
    exam.message('build.bazel.remote.execution.v2.Tree', { root: { symlinks: [{ name: exam.uuid(), target: '' }] } }),
    Buffer.concat([fresh(), Buffer.alloc(70_000)]),
  ]
}
