import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from '../../../../../src/blobs/store.js'
import { callWith } from '../../../../../src/rpc/call.js'
import { Blob } from '../../../../../src/stream/blob/blob.js'
import { bytesOf, call, digestOf, isPresent } from '../../../blobs.js'

/** Larger blobs are files. */
export const SMALL = { small_blob_size: 1000 }
export const SIZE_BYTES = 5000

export const some = (count: number, seed = 'blob') =>
  Array.from({ length: count }, (_, number) => {
    const bytes = bytesOf(SIZE_BYTES + number, `${seed} ${number}`)
    return { bytes, digest: digestOf(bytes) }
  })

export type Some = ReturnType<typeof some>

export const putTogether = async (store: Store, blobs: Some, together = {}): Promise<void> => {
  const entries = blobs.map(({ digest, bytes }) => ({ digest, blob: Blob.ofBytes(bytes).assumeVerified(digest) }))
  for (const failure of await store.putAll(entries, callWith(call, { together }))) if (failure) throw failure
}

export const packsIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(join(folder, 'content', 'packs'), { recursive: true, withFileTypes: true }).catch(
    () => [],
  )
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

export const onlyPack = async (folder: string): Promise<string> => {
  const [path, ...more] = await packsIn(folder)
  if (path === undefined || more.length > 0) throw new Error('expected one file of several blobs')
  return path
}

export const flip = async (path: string, at: number): Promise<void> => {
  const file = await open(path, 'r+')
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at)
  await file.write(Buffer.from([(buffer[0] as number) ^ 1]), 0, 1, at)
  await file.close()
}

export const presence = (store: Store, blobs: Some): Promise<boolean[]> =>
  Promise.all(blobs.map(({ digest }) => isPresent(store, digest)))
