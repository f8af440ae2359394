import { join } from 'node:path'
import type { Layout } from './found.js'
import { listFiles, type NameParts } from './list-files.js'

/**
 * A `content_path` of NativeLink: `d/{hash}-{size}`, and in old folders `{hash}-{size}`. Blobs and results are in
 * folders of their own, with the same names. Keys that are no digests (`s/`) are skipped.
 */
export const nativelink: Layout = {
  name: 'nativelink',
  holdsResults: false,
  recognises: (names) => names.includes('d') || names.some((name) => NAME.test(name)),
  async *files(folder, _kind, onUnreadable) {
    yield* listFiles(join(folder, 'd'), parse, onUnreadable)
    yield* listFiles(folder, parse, onUnreadable)
  },
}

const parse = (name: string): NameParts | undefined => {
  const [, hash, size] = NAME.exec(name) ?? []
  const sizeBytes = Number(size)
  if (hash === undefined || !Number.isSafeInteger(sizeBytes)) return undefined
  return { hash, sizeBytes, form: 'plain', digestFunction: undefined }
}

/** Of every digest function with a fixed length: MD5 to SHA512. */
const NAME = /^([0-9a-f]{32,128})-(\d+)$/
