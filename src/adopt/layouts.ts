import { opendir } from 'node:fs/promises'
import { errnoOf } from '../base/errno.js'
import { bazelRemote } from './bazel-remote.js'
import type { Layout } from './found.js'
import { nativelink } from './nativelink.js'

/** The caches whose folders can be imported. */
export const LAYOUTS: readonly Layout[] = [bazelRemote, nativelink]

/** A folder of another cache shows what it is with its first entries, so that a million of them need not be listed. */
const LOOKED_AT = 1000

/** The layout of a folder; undefined if it is none of another cache. Rejects if the folder cannot be read. */
export const layoutOf = async (folder: string): Promise<Layout | undefined> => {
  const names: string[] = []
  for await (const { name } of await opendir(folder)) if (names.push(name) >= LOOKED_AT) break
  return LAYOUTS.find((layout) => layout.recognises(names))
}

/** Like `layoutOf`, and undefined for a folder that does not exist. */
export const layoutIfThere = (folder: string): Promise<Layout | undefined> =>
  layoutOf(folder).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  })
