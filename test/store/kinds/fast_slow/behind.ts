import type { Test } from 'tap'
import { type Clock, systemClock } from '../../../../src/base/clock.js'
import type { HealthProbe } from '../../../../src/base/health.js'
import type { UploadQueueUsage } from '../../../../src/blobs/meter.js'
import type { Store } from '../../../../src/blobs/store.js'
import type { FastSlowOptions, FilesystemOptions } from '../../../../src/config/config.js'
import { type Log, silentLog } from '../../../../src/log/log.js'
import { UploadOrder } from '../../../../src/store/contract/upload-order.js'
import { fastSlow } from '../../../../src/store/kinds/fast_slow/kind.js'
import { Resources } from '../../../../src/work/resources.js'
import { buildStore, given, tierDefaults } from '../../build.js'
import { openFilesystem } from '../filesystem/open.js'

export interface BehindOptions extends Partial<Omit<FastSlowOptions, 'fast' | 'slow'>> {
  readonly folder: string
  readonly slow: Store
  readonly clock?: Clock
  readonly log?: Log
  readonly order?: UploadOrder
  readonly durability?: FilesystemOptions['durability']
  readonly maxBytes?: number
}

/** A file store that acknowledges uploads in front of a slow store. */
export const openBehind = async (options: BehindOptions) => {
  const { folder, slow, clock = systemClock, log = silentLog, order, durability, maxBytes, ...tiers } = options
  const policy = { max_bytes: maxBytes ?? 0 }
  const files = await openFilesystem(folder, { policy, ...(durability && { durability }) })
  const resources = new Resources(silentLog)
  const probes: HealthProbe[] = []
  let usage: () => UploadQueueUsage = () => {
    throw new Error('no queue was opened')
  }
  const uploadOrder = order ?? new UploadOrder()
  const store = await buildStore(
    fastSlow,
    { ...tierDefaults, fast: given, slow: given, ...BEHIND, ...tiers },
    {
      children: { fast: files.store, slow },
      ...{ clock, log, resources, uploadOrder },
      watch: (probe) => void probes.push(probe),
      queues: (reader) => {
        usage = reader
      },
    },
  )
  if (order === undefined) uploadOrder.begin()
  const close = async (): Promise<void> => {
    await resources.close()
    await files.close()
  }
  const health = async () => probes[0]?.check(new AbortController().signal)
  return { store, fast: files.store, files, usage: () => usage(), health, close }
}

export const BEHIND = { when_slow_is_away: 'serve_fast', acknowledge: 'fast' } as const

export type Behind = Awaited<ReturnType<typeof openBehind>>

/** Like `openBehind`, in a folder of the test, closed at its end. */
export const openIn = async (t: Test, options: Omit<BehindOptions, 'folder'>): Promise<Behind> => {
  const behind = await openBehind({ folder: t.testdir(), ...options })
  t.teardown(() => behind.close())
  return behind
}
