import { join } from 'node:path'
import { type DigestFunctionName, digestFunctions } from '../reapi/digest-function.js'
import type { FileKind, FoundFile, Layout, OnUnreadable } from './found.js'
import { listFiles, type NameParts, namesIn } from './list-files.js'

/**
 * The folder of bazel-remote 2.0 or later (`--dir`): `cas.v2/{first two digits}/{hash}-{size}-{random}`, with `.v1` at
 * the end if the file has only the bytes of the blob, and `ac.v2/{first two digits}/{hash}-{random}`. Functions other
 * than SHA256 have a folder of their own below `cas.v2` and `ac.v2`. Entries of its HTTP cache without validation
 * (`raw.v2`) are not action results, and are skipped.
 */
export const bazelRemote: Layout = {
  name: 'bazel-remote',
  holdsResults: true,
  recognises: (names) => names.includes('cas.v2') || names.includes('ac.v2'),
  async *files(folder, kind, onUnreadable) {
    const top = join(folder, kind === 'blobs' ? 'cas.v2' : 'ac.v2')
    yield* filesBelow(top, { kind, name: 'SHA256', onUnreadable })
    for (const name of Object.keys(digestFunctions) as DigestFunctionName[])
      yield* filesBelow(join(top, name.toLowerCase()), { kind, name, onUnreadable })
  },
}

interface Below {
  readonly kind: FileKind
  readonly name: DigestFunctionName
  readonly onUnreadable: OnUnreadable
}

async function* filesBelow(top: string, { kind, name, onUnreadable }: Below): AsyncGenerator<FoundFile> {
  const { hexLength } = digestFunctions[name]
  for await (const pair of namesIn(top, onUnreadable)) {
    if (!PAIR.test(pair)) continue
    const parse = (file: string): NameParts | undefined => {
      const parts = kind === 'blobs' ? blobOf(file) : resultOf(file)
      const isRight = parts?.hash.length === hexLength && parts.hash.startsWith(pair)
      return isRight ? { ...parts, digestFunction: name } : undefined
    }
    yield* listFiles(join(top, pair), parse, onUnreadable)
  }
}

const blobOf = (name: string): Omit<NameParts, 'digestFunction'> | undefined => {
  const [, hash, size, plain] = BLOB.exec(name) ?? []
  const sizeBytes = Number(size)
  if (hash === undefined || !Number.isSafeInteger(sizeBytes)) return undefined
  return { hash, sizeBytes, form: plain === undefined ? 'casblob' : 'plain' }
}

const resultOf = (name: string): Omit<NameParts, 'digestFunction'> | undefined => {
  const [, hash] = RESULT.exec(name) ?? []
  return hash === undefined ? undefined : { hash, sizeBytes: undefined, form: 'plain' }
}

const PAIR = /^[0-9a-f]{2}$/
const BLOB = /^([0-9a-f]+)-(\d+)-[0-9A-Za-z]+(\.v1)?$/
const RESULT = /^([0-9a-f]+)-[0-9A-Za-z]+$/
