import { mkdir, readdir, realpath, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { StatusError } from '../base/status-error.js'
import type { FilesystemOptions } from '../config/config.js'
import { markUnclean, readCheckpoint, writeCheckpoint } from './filesystem/checkpoint.js'
import { FilesystemStore } from './filesystem/file-store.js'
import { FolderSyncs } from './filesystem/folder-syncs.js'
import { Layout } from './filesystem/layout.js'
import { lockFolder } from './filesystem/lock.js'
import { deleteTorn } from './filesystem/placings.js'
import { Scan } from './filesystem/scan.js'
import { Shelf } from './filesystem/shelf.js'
import { WriteSlots } from './filesystem/write-slots.js'
import type { BuildContext, StoreKind } from './kind.js'

/** How much recency a kill -9 may cost. Blobs are found again without it. */
const CHECKPOINT_PERIOD_MS = 5 * 60_000

const EXPIRY_PERIOD_MS = 1000

export const filesystem: StoreKind<FilesystemOptions> = {
  build: async (options, context) => {
    const layout = await prepare(options)
    const release = await lockFolder(layout.contentPath)
    try {
      return await start(layout, options, context, release)
    } catch (error) {
      await release()
      throw error
    }
  },
}

const prepare = async ({ content_path, temp_path }: FilesystemOptions): Promise<Layout> => {
  for (const path of [content_path, temp_path]) await mkdir(path, { recursive: true })
  const layout = new Layout(await realpath(content_path), await realpath(temp_path))
  const [content, temp] = [await stat(layout.contentPath), await stat(layout.tempPath)]
  if (content.dev !== temp.dev) {
    const text = `content_path ${content_path} and temp_path ${temp_path} are on different file systems, expected one`
    throw new StatusError('FAILED_PRECONDITION', `${text}: a finished blob is moved from the one to the other`)
  }
  return layout
}

const start = async (
  layout: Layout,
  options: FilesystemOptions,
  { clock, log, path, resources }: BuildContext,
  release: () => Promise<void>,
): Promise<FilesystemStore> => {
  const policy = options.eviction_policy
  const limits = {
    maxBytes: policy.max_bytes,
    evictBytes: policy.evict_bytes,
    maxCount: policy.max_count,
    maxSeconds: policy.max_seconds,
  }
  const { block_size: blockSizeBytes, small_blob_cache_size: recentBytes } = options
  const shelf = new Shelf(layout, { limits, blockSizeBytes, recentBytes }, clock, log)
  await sweep(layout)
  await deleteTorn(layout)
  const recovered = await readCheckpoint(shelf.index, layout.checkpointPath)
  if (recovered.isRefused) log.warn('the checkpoint of a store is damaged: looking through its files instead', { path })
  if (recovered.isClean) await markUnclean(layout.checkpointPath)
  const scan = recovered.isClean ? undefined : await Scan.of(shelf, !recovered.isSameBoot)
  const store = new FilesystemStore(shelf, {
    slots: new WriteSlots(options.max_concurrent_writes),
    bufferBytes: options.read_buffer_size,
    syncs: options.durability === 'power_loss' ? new FolderSyncs() : undefined,
    log,
  })
  let checkpointing = Promise.resolve()
  const checkpoint = (): void => {
    if (shelf.isScanning) return
    checkpointing = checkpointing
      .then(() => writeCheckpoint(shelf.index, layout.checkpointPath, false))
      .catch((error: unknown) => log.warn('could not write the checkpoint of a store', { path, error }))
  }
  const scanning = scan && runScan(scan, shelf, { log, path, onReconciled: checkpoint })
  shelf.evict()
  const stopTimers = [
    clock.every(CHECKPOINT_PERIOD_MS, checkpoint),
    ...(limits.maxSeconds > 0 ? [clock.every(EXPIRY_PERIOD_MS, () => shelf.evict())] : []),
  ]
  resources.add(`files of ${path}`, async () => {
    for (const stop of stopTimers) stop()
    scan?.stop()
    try {
      await Promise.all([scanning, store.close()])
      await checkpointing
      // Files whose lengths were still to be checked after a loss of power must be checked by the next start.
      if (!shelf.isScanning || recovered.isSameBoot)
        await writeCheckpoint(shelf.index, layout.checkpointPath, !shelf.isScanning)
    } finally {
      await release()
    }
  })
  return store
}

interface ScanContext extends Pick<BuildContext, 'log' | 'path'> {
  readonly onReconciled: () => void
}

const runScan = async (scan: Scan, shelf: Shelf, { log, path, onReconciled }: ScanContext): Promise<void> => {
  shelf.startScan(scan)
  try {
    await scan.run()
    if (!scan.isComplete) return
    shelf.endScan()
    // Tells the next start, should this run be killed, that the power was not lost since these files were looked at.
    onReconciled()
    await scan.order()
    log.info('looked through the files of a store', { path, blobs: shelf.index.count })
  } catch (error) {
    log.error('could not look through the files of a store', { path, error })
  }
}

/** Deletes what uploads of an earlier run left half-written. */
const sweep = async (layout: Layout): Promise<void> => {
  for (const name of await readdir(layout.tempPath)) if (layout.isTemp(name)) await unlink(join(layout.tempPath, name))
}
