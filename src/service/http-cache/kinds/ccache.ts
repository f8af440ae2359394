import { type CacheKind, fileHandler } from '../kind.js'

/** 20 bytes: 40 hex digits since ccache 4.13, before 4.13 the first bytes in hex and the rest in base 32. */
const KEY = /^(?:[0-9a-f]{40}|[0-9a-v]{33})$/
/** `layout=bazel` repeats the first digits, so that the name looks like a SHA-256. */
const BAZEL_KEY = /^([0-9a-f]{24})([0-9a-f]{16})\1$/

/** ccache's remote storage over HTTP, in each of its layouts: `flat`, `subdirs` and `bazel`. They share their entries. */
export const ccache: CacheKind = {
  handler: (mount) =>
    fileHandler(mount, {
      keyOf: (segments) => {
        const [first = '', second] = segments
        if (segments.length === 1 && KEY.test(first)) return [first]
        if (segments.length !== 2 || second === undefined) return undefined
        if (first !== 'ac') return KEY.test(first + second) ? [first + second] : undefined
        const [, head, tail] = BAZEL_KEY.exec(second) ?? []
        return head === undefined || tail === undefined ? undefined : [head + tail]
      },
      expected: "ccache's key: 40 hex digits or 33 digits of base 32, in one or two segments, or ac/ and 64 hex digits",
      removes: true,
    }),
}
