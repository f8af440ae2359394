import { type CacheKind, fileHandler } from '../kind.js'

/** A key has 20 bytes: 40 hex digits since ccache 4.13; before, two bytes in hex and 18 in base 32 (RFC 4648, 7). */
const HEX_KEY = /^[0-9a-f]{40}$/
const OLD_KEY = /^([0-9a-f]{4})([0-9a-v]{29})$/
const KEY_BYTES = 20
/** `layout=bazel` repeats the first digits, so that the name looks like a SHA-256. */
const BAZEL_KEY = /^([0-9a-f]{24})([0-9a-f]{16})\1$/

/** ccache's remote storage over HTTP, in each of its layouts: `flat`, `subdirs` and `bazel`. They share their entries. */
export const ccache: CacheKind = {
  handler: (mount) =>
    fileHandler(mount, {
      keyOf: (segments) => {
        const [first = '', second = ''] = segments
        if (segments.length > 2) return undefined
        const [, head, tail] = first === 'ac' ? (BAZEL_KEY.exec(second) ?? []) : []
        const key = hexOf(head === undefined ? first + second : `${head}${tail}`)
        return key === undefined ? undefined : [key]
      },
      expected: "ccache's key: 40 hex digits or 33 digits of base 32, in one or two segments, or ac/ and 64 hex digits",
      removes: true,
    }),
}

/** The key in hex, so that `layout=bazel`, which is always in hex, finds what an older ccache wrote in another layout. */
const hexOf = (key: string): string | undefined => {
  if (HEX_KEY.test(key)) return key
  const [, head, tail] = OLD_KEY.exec(key) ?? []
  if (head === undefined || tail === undefined) return undefined
  const bits = [...tail].map((digit) => Number.parseInt(digit, 32).toString(2).padStart(5, '0')).join('')
  const bytes = Array.from({ length: KEY_BYTES - 2 }, (_, at) => Number.parseInt(bits.slice(at * 8, at * 8 + 8), 2))
  return head + Buffer.from(bytes).toString('hex')
}
