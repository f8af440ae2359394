import { type CacheKind, fileHandler } from '../kind.js'

const MAX_SEGMENTS = 16

/** Any client that puts and gets files: Please, Metro, Rush. Its key is the path below the mount. */
export const opaque: CacheKind = {
  handler: (mount) =>
    fileHandler(mount, {
      keyOf: (segments) => (segments.length > 0 && segments.length <= MAX_SEGMENTS ? [segments.join('/')] : undefined),
      expected: `a path of 1 to ${MAX_SEGMENTS} segments`,
      removes: true,
    }),
}
