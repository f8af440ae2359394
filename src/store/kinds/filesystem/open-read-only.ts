import { realpath, stat } from 'node:fs/promises'
import { systemClock } from '../../../base/clock.js'
import { errnoOf } from '../../../base/errno.js'
import { StatusError } from '../../../base/status-error.js'
import { checkFormat } from '../../../files/folder-format.js'
import { isFolderLocked } from '../../../files/folder-lock.js'
import type { Log } from '../../../log/log.js'
import { BlobIndex } from '../../index/blob-index.js'
import { FORMAT, Layout } from './layout.js'
import { RecordLog } from './records/record-log.js'
import { inlineCharge, packedCharge } from './records/room.js'
import { recover } from './recover/recover.js'

/** The folder of a store that is not running. */
export interface OpenFolder {
  readonly layout: Layout
  readonly index: BlobIndex
  readonly records: RecordLog
}

const NO_POLICY = { max_bytes: 0, evict_bytes: 0, max_seconds: 0, max_count: 0 }

/**
 * Reads what a start of the store would find, and changes nothing. The caller closes `records`. FAILED_PRECONDITION if
 * the folder is in use or is not one of a store. `log` receives warnings about damage.
 */
export const openReadOnly = async (contentPath: string, log: Log): Promise<OpenFolder> => {
  const layout = new Layout(await realpath(contentPath), '')
  await expectStore(layout)
  const options = { folder: layout.recordsPath, segmentBytes: 0, isSynced: false, isReadOnly: true, log }
  const records = await RecordLog.open(options)
  try {
    const index = new BlobIndex({
      policy: NO_POLICY,
      clock: systemClock,
      blockSizeBytes: 1,
      inlineCharge,
      packedCharge,
    })
    await recover({ index, records, checkpointPath: layout.checkpointPath, log, path: contentPath })
    return { layout, index, records }
  } catch (error) {
    await records.close()
    throw error
  }
}

const expectStore = async (layout: Layout): Promise<void> => {
  const { contentPath, recordsPath } = layout
  await layout.refuseOlder()
  await checkFormat(contentPath, FORMAT)
  const isStore = await stat(recordsPath).then(
    (stats) => stats.isDirectory(),
    (error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return false
      throw error
    },
  )
  if (!isStore)
    throw new StatusError(
      'FAILED_PRECONDITION',
      `${contentPath} is not the content_path of a filesystem store: expected the folder \`records\` in it`,
    )
  if (await isFolderLocked(contentPath))
    throw new StatusError('FAILED_PRECONDITION', `${contentPath} is in use by a running server: stop it first`)
}
