import { mkdir, readdir, realpath, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { freeBytesOf } from '../../../base/free-bytes.js'
import { StatusError } from '../../../base/status-error.js'
import type { FilesystemOptions } from '../../../config/config.js'
import { claimFormat } from '../../../files/folder-format.js'
import { lockFolder } from '../../../files/folder-lock.js'
import { BytesInFlight } from '../../../ledger/bytes-in-flight.js'
import { SharedLedgerMemory } from '../../../ledger/totals.js'
import { QUIET_MS } from '../../../rpc/invocations.js'
import type { BuildContext, ThreadSharing } from '../../contract/kind.js'
import { BlobIndex } from '../../index/blob-index.js'
import { promisesOf, tellBroken } from '../../index/kept-promises.js'
import { listerOf } from '../../index/list-blobs.js'
import { SharedIndexMemory } from '../../index/memory.js'
import { Catalog } from './catalog.js'
import { FilesystemStore } from './file-store.js'
import { FolderSyncs } from './files/folder-syncs.js'
import { writeSlotsOf } from './files/write-blob.js'
import { Inspection } from './inspection.js'
import { FORMAT, Layout } from './layout.js'
import { RecordLog } from './records/record-log.js'
import { inlineCharge, packedCharge } from './records/room.js'
import { Checkpoints } from './recover/checkpoints.js'
import { recover } from './recover/recover.js'
import { FileShare } from './thread-share.js'
import { Touches } from './touches.js'
import { Cleaner } from './upkeep/cleaner.js'
import { PackKeeper } from './upkeep/pack-keeper.js'
import { Patrol } from './upkeep/patrol.js'
import { Scrub } from './upkeep/scrub.js'
import { Shortages } from './upkeep/shortages.js'

const EXPIRY_PERIOD_MS = 1000

const IN_USE =
  'another store or another running server; each process needs a content_path of its own, and several workers of a machine can be in one process'

/** Opens the store in its folders and locks them until the store is closed. */
export const openFileStore = async (
  options: FilesystemOptions,
  context: BuildContext,
  segmentBytes: number,
): Promise<FilesystemStore> => {
  context.step('makes its folders')
  const layout = await prepare(options)
  context.step('locks its folder')
  const release = await lockFolder(layout.contentPath, IN_USE)
  try {
    await claimFormat(layout.contentPath, FORMAT)
    return await start(layout, options, context, { segmentBytes, release })
  } catch (error) {
    await release()
    throw error
  }
}

const prepare = async ({ content_path, temp_path }: FilesystemOptions): Promise<Layout> => {
  for (const path of [content_path, temp_path]) await mkdir(path, { recursive: true })
  const layout = new Layout(await realpath(content_path), await realpath(temp_path))
  const [content, temp] = [await stat(layout.contentPath), await stat(layout.tempPath)]
  if (content.dev !== temp.dev) {
    const text = `content_path ${content_path} and temp_path ${temp_path} are on different file systems, expected one`
    throw new StatusError('FAILED_PRECONDITION', `${text}: a finished blob is moved from the one to the other`)
  }
  await layout.refuseOlder()
  return layout
}

const start = async (
  layout: Layout,
  options: FilesystemOptions,
  context: BuildContext,
  { segmentBytes, release }: { readonly segmentBytes: number; readonly release: () => Promise<void> },
): Promise<FilesystemStore> => {
  const { clock, holds, log, path, resources, step } = context
  const policy = options.eviction_policy
  const isSynced = options.durability === 'power_loss'
  const concurrent = options.max_concurrent_writes
  const promises = promisesOf(options, context)
  const shared = context.threads && new SharedIndexMemory()
  const index = new BlobIndex({
    policy,
    clock,
    blockSizeBytes: options.block_size,
    inlineCharge,
    packedCharge,
    promises,
    shared,
  })
  tellBroken(index, context)
  step('opens its records')
  const records = await RecordLog.open({ folder: layout.recordsPath, segmentBytes, isSynced, log })
  step('deletes incomplete uploads in temp_path')
  await sweep(layout)
  step('reads its checkpoint and the records since')
  const { checkpointPath } = layout
  const { mayBeTorn, replayedFrom } = await recover({ index, records, checkpointPath, log, path })
  const syncs = isSynced ? new FolderSyncs() : undefined
  // Each thread has as much of it as the owner.
  const recentBytes = options.small_blob_cache_size / (1 + (context.threads?.threadCount ?? 0))
  const catalog = new Catalog({ layout, index, records, recentBytes, syncs, clock, log })
  const touches = new Touches({ index, records, clock, log })
  const inspection = new Inspection(catalog, log)
  step('checks its files after a power loss')
  if (mayBeTorn) await inspection.lookAtAll({ index, at: (slot) => catalog.at(slot) })
  index.holdRecent(QUIET_MS / 1000)
  const counters = context.threads && new SharedLedgerMemory(1)
  const freeBytes = (): Promise<number> => freeBytesOf(layout.tempPath)
  const inFlight = new BytesInFlight({ maxBlobBytes: index.maxBlobBytes, freeBytes, shared: counters })
  await inFlight.look()
  const checkpoints = new Checkpoints({ index, records, replayedFrom, path: checkpointPath, clock, log })
  const parts = { catalog, inspection, clock, log }
  const cleaner = new Cleaner(parts, () => checkpoints.replayedFrom)
  const patrol = new Patrol(parts)
  const packKeeper = new PackKeeper(parts)
  if (mayBeTorn) await packKeeper.survey()
  const scrub = options.scrub_bytes_per_s > 0 ? new Scrub(parts, options.scrub_bytes_per_s) : undefined
  const store = new FilesystemStore(catalog, {
    inspection,
    writeSlots: writeSlotsOf(eachOf(concurrent, context.threads)),
    bufferBytes: options.read_buffer_size,
    smallBytes: options.small_blob_size,
    patrol,
    shortages: new Shortages(path, { clock, log }),
    inFlight,
  })
  holds(() => store.usage(), listerOf(index, path))
  context.threads?.register(
    new FileShare(path, catalog, store, {
      recentBytes,
      bufferBytes: options.read_buffer_size,
      smallBytes: options.small_blob_size,
      blockBytes: options.block_size,
      maxWrites: eachOf(concurrent, context.threads),
      inFlightCounters: counters?.buffer,
    }),
  )
  catalog.eviction.start()
  patrol.look()
  packKeeper.look()
  scrub?.look()
  const stopExpiry = policy.max_seconds > 0 ? clock.every(EXPIRY_PERIOD_MS, () => catalog.eviction.start()) : () => {}
  resources.add(`files of ${path}`, async () => {
    stopExpiry()
    touches.stop()
    try {
      await Promise.all([cleaner.stop(), patrol.stop(), packKeeper.stop(), scrub?.stop(), catalog.close()])
      await checkpoints.close()
    } finally {
      await records.close()
      await release()
    }
  })
  return store
}

/** The share of a bound that the owner has, and each thread; 0 means no bound, and no share is smaller than 1. */
const eachOf = (bound: number, threads: ThreadSharing | undefined): number =>
  bound === 0 ? 0 : Math.max(1, Math.floor(bound / (1 + (threads?.threadCount ?? 0))))

/** Deletes incomplete uploads of an earlier run. */
const sweep = async (layout: Layout): Promise<void> => {
  for (const name of await readdir(layout.tempPath)) if (layout.isTemp(name)) await unlink(join(layout.tempPath, name))
}
