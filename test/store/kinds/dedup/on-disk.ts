import { join } from 'node:path'
import type { BlobFiles, Store } from '../../../../src/blobs/store.js'
import type { EvictionPolicy } from '../../../../src/config/config.js'
import { dedup } from '../../../../src/store/kinds/dedup/kind.js'
import { buildStore, given } from '../../build.js'
import { SIZES } from '../../composed.js'
import { type OpenFilesystem, openFilesystem } from '../filesystem/open.js'

export interface OnDisk {
  readonly store: Store
  readonly files: BlobFiles
  readonly index: OpenFilesystem
  readonly content: OpenFilesystem
  readonly whole: OpenFilesystem
  close(): Promise<void>
}

export interface OnDiskParts {
  readonly averageBytes?: number
  readonly wholePolicy?: Partial<EvictionPolicy>
}

/** A dedup store over three folders of `folder`, in chunks of a quarter of the average to four times as much. */
export const openOnDisk = async (
  folder: string,
  { averageBytes = 16_384, wholePolicy = {} }: OnDiskParts = {},
): Promise<OnDisk> => {
  const opened = { small_blob_size: 1024 }
  // Lists are records, as with the default: a folder can be copied while a record is replaced, but not while a file is.
  const index = await openFilesystem(join(folder, 'index'))
  const content = await openFilesystem(join(folder, 'content'), opened)
  const whole = await openFilesystem(join(folder, 'whole'), { ...opened, policy: wholePolicy })
  const options = {
    ...SIZES,
    ...{ index_store: given, content_store: given, whole_store: given },
    ...{ min_size: 65_536, normal_size: 262_144, max_size: 524_288, max_concurrent_fetch_per_get: 2 },
    ...{ chunking_function: 'fast_cdc_2020' as const, avg_chunk_size_bytes: averageBytes },
  }
  const children = { index_store: index.store, content_store: content.store, whole_store: whole.store }
  const store = await buildStore(dedup, options, { children })
  if (store.files === undefined) throw new Error('a dedup store over filesystem stores has files')
  const close = async (): Promise<void> => {
    for (const each of [index, content, whole]) await each.close()
  }
  return { store, files: store.files, index, content, whole, close }
}
