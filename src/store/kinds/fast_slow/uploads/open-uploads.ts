import { StatusError } from '../../../../base/status-error.js'
import type { Store } from '../../../../blobs/store.js'
import type { FastSlowOptions } from '../../../../config/config.js'
import type { BuildContext } from '../../../contract/kind.js'
import { SlowWatch } from '../slow-watch.js'
import { Journal } from './journal.js'
import { UploadQueue } from './upload-queue.js'

interface Tiers {
  readonly fast: Store
  readonly slow: Store
  readonly options: FastSlowOptions
}

interface Uploads {
  /** Undefined if nothing waits and nothing may. */
  readonly queue: UploadQueue | undefined
  /** Undefined if nobody has to know whether slow works. */
  readonly watch: SlowWatch | undefined
}

/** The bound where neither the queue nor the fast store has one. */
const DEFAULT_BYTES = 10 * 1024 ** 3

/**
 * Opens the queue of uploads behind their answer. What an earlier process queued is uploaded even if fast no longer
 * acknowledges uploads.
 */
export const openUploads = async ({ fast, slow, options }: Tiers, context: BuildContext): Promise<Uploads> => {
  const { clock, log, path, resources, uploadOrder: order } = context
  const { lasting } = fast
  context.step('reads the uploads that an earlier process left')
  const acknowledgesFast = options.acknowledge === 'fast'
  const isQueued = acknowledgesFast || (lasting !== undefined && (await hasLeftOvers(lasting.folder)))
  if (!isQueued && options.when_slow_is_away !== 'serve_fast') return { queue: undefined, watch: undefined }
  let queue: UploadQueue | undefined
  const fields = (): Readonly<Record<string, unknown>> => {
    if (queue === undefined) return {}
    const { entryCount, sizeBytes } = queue.usage
    return { waitingBlobs: entryCount, waitingBytes: sizeBytes }
  }
  const watch = new SlowWatch({ slow, clock, log, path, fields })
  resources.add(`watch of ${path}`, () => watch.close())
  if (!isQueued) return { queue, watch }
  if (lasting?.claim() !== true) {
    if (!acknowledgesFast) return { queue, watch }
    const reason = lasting === undefined ? 'does not outlast the process' : 'acknowledges uploads for another store too'
    throw new StatusError('FAILED_PRECONDITION', `acknowledge is "fast", but the fast store ${reason}`)
  }
  const { max_bytes, max_count: maxCount, max_concurrent: maxConcurrent } = options.upload_queue
  const ofFast = Number.isFinite(lasting.maxBytes) ? Math.floor(lasting.maxBytes / 2) : DEFAULT_BYTES
  const limits = { maxBytes: max_bytes || ofFast, maxCount, maxConcurrent }
  const opened = await UploadQueue.open({ fast, slow, lasting, order, watch, clock, log, path, ...limits })
  queue = opened
  resources.add(`uploads of ${path}`, () => opened.close())
  context.queues(() => opened.usage)
  context.watch({
    namespace: `/uploads/${path}`,
    component: `uploads/${path}`,
    structName: 'UploadQueue',
    check: () => opened.health(),
  })
  return { queue, watch }
}

const hasLeftOvers = async (folder: string): Promise<boolean> => (await Journal.read(folder)).uploads.length > 0
