import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../../../src/base/clock.js'
import type { StoreUsage } from '../../../../src/blobs/meter.js'
import type { BlobFiles, Store } from '../../../../src/blobs/store.js'
import type { EvictionPolicy, FilesystemOptions } from '../../../../src/config/config.js'
import { type Log, silentLog } from '../../../../src/log/log.js'
import { unhiddenSecrets } from '../../../../src/log/secrets.js'
import { Invocations } from '../../../../src/rpc/invocations.js'
import type { ThreadSharing } from '../../../../src/store/contract/kind.js'
import { UploadOrder } from '../../../../src/store/contract/upload-order.js'
import { openFileStore } from '../../../../src/store/kinds/filesystem/open-file-store.js'
import { segmentBytesFor } from '../../../../src/store/kinds/filesystem/records/room.js'
import { Resources } from '../../../../src/work/resources.js'

export interface OpenFilesystem {
  readonly store: Store
  readonly files: BlobFiles
  usage(): StoreUsage
  close(): Promise<void>
  /** Names of the blobs' files, without their folders, sorted. */
  blobFiles(): Promise<string[]>
  tempFiles(): Promise<string[]>
}

export interface FilesystemParts extends Partial<Omit<FilesystemOptions, 'eviction_policy'>> {
  readonly invocations?: Invocations
  readonly policy?: Partial<EvictionPolicy>
  readonly clock?: Clock
  readonly log?: Log
  /** The size of a file of records; what `max_bytes` asks for unless given. */
  readonly segmentBytes?: number
  /** Set if service threads read the store. */
  readonly threads?: ThreadSharing
}

/** A filesystem store in `{folder}/content` and `{folder}/temp`. */
export const openFilesystem = async (folder: string, parts: FilesystemParts = {}): Promise<OpenFilesystem> => {
  const { policy, clock = systemClock, log = silentLog, segmentBytes, invocations, threads, ...options } = parts
  const resources = new Resources(silentLog)
  const all: FilesystemOptions = {
    content_path: join(folder, 'content'),
    temp_path: join(folder, 'temp'),
    read_buffer_size: 256 * 1024,
    block_size: 1,
    max_concurrent_writes: 0,
    durability: 'process_exit',
    small_blob_size: 64 * 1024,
    small_blob_cache_size: 64 * 1024,
    scrub_bytes_per_s: 0,
    retention: 10_800,
    when_full: 'break',
    ...options,
    eviction_policy: { max_bytes: 0, evict_bytes: 0, max_seconds: 0, max_count: 0, ...policy },
  }
  const unavailable = (): never => {
    throw new Error('a filesystem store has no store below it')
  }
  const usages: (() => StoreUsage)[] = []
  const holds = (told: () => StoreUsage): void => void usages.push(told)
  const promises = { keepsPromises: true, invocations: invocations ?? new Invocations(clock) }
  const unused = {
    step: () => {},
    watch: () => {},
    queues: () => {},
    cuts: () => {},
    uploadOrder: new UploadOrder(),
    ...promises,
  }
  const around = { resources, clock, log, secrets: unhiddenSecrets, holds, ...unused }
  const context = { path: 'TEST', threads, child: unavailable, named: unavailable, ...around }
  const store = await openFileStore(all, context, segmentBytes ?? segmentBytesFor(all.eviction_policy.max_bytes))
  if (store.files === undefined) throw new Error('a filesystem store has files')
  const [usage] = usages
  if (usage === undefined) throw new Error('a filesystem store says what it holds')
  return {
    store,
    files: store.files,
    usage,
    close: () => resources.close(),
    blobFiles: () => blobFilesIn(all.content_path),
    tempFiles: () => readdir(all.temp_path),
  }
}

export const blobFilesIn = async (contentPath: string): Promise<string[]> => {
  const entries = await readdir(contentPath, { recursive: true, withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  return names.filter((name) => /^[0-9a-f]{32,}-/.test(name)).sort()
}
