import { counted, decimalSize } from '../base/decimal-size.js'
import { errnoOf, inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import type { FolderReport } from '../store/kinds/filesystem/check-folder.js'
import { type Command, type Console, UsageError } from './command.js'

const PROGRESS_PERIOD_MS = 500

export const check: Command = {
  name: 'check',
  usage: [['DIR', 'read everything in the content_path of a file store, and list what is damaged']],
  details: [['DIR', 'a content_path that no server uses now; nothing in it is changed']],
  options: {},
  run: async ({ words: [folder, ...more] }, console) => {
    if (folder === undefined || more.length > 0) throw new UsageError('expected one DIR')
    const { checkFolder } = await import('../store/kinds/filesystem/check-folder.js')
    const { progress, end } = showProgress(console)
    try {
      const report = await checkFolder(folder, progress)
      end()
      console.print(reportText(folder, report))
      return report.damage.length === 0 ? 0 : 1
    } catch (error) {
      end()
      if (errnoOf(error) === undefined) throw error
      throw new StatusError('FAILED_PRECONDITION', `${folder}: ${inWords(error)}`)
    }
  },
}

const reportText = (folder: string, { blobs, damage, hashes, differing, unknown }: FolderReport): string => {
  const lines = [
    ...damage,
    `${folder}: ${counted(blobs.count, 'blob')}, ${decimalSize(blobs.bytes)}, ${blobs.inFiles.toLocaleString('en-US')} of them in files of their own`,
    ...(unknown.count === 0
      ? []
      : [
          `${counted(unknown.count, 'file')}, ${decimalSize(unknown.bytes)}, belong to no blob: the server deletes them`,
        ]),
    ...(hashes.matching > 0 && differing.length > 0
      ? [
          `keys that are no hash of their blob (action results, encoded blobs, isolated instances): ${hashes.differing}, first ${differing.join(', ')}`,
        ]
      : []),
    damage.length === 0
      ? `no damage; ${counted(hashes.matching, 'key')} compared with the hash of the blob`
      : `${counted(damage.length, 'fault')}; the server drops a damaged blob, and clients upload it again`,
  ]
  return `${lines.join('\n')}\n`
}

/** On a terminal only. */
const showProgress = ({ errors }: Console) => {
  let shownMs = 0
  const clear = '\r\u001b[K'
  return {
    progress: ({ blobs }: FolderReport): void => {
      if (!errors.isTTY || performance.now() - shownMs < PROGRESS_PERIOD_MS) return
      shownMs = performance.now()
      errors.write(`${clear}${counted(blobs.count, 'blob')}, ${decimalSize(blobs.bytes)}`)
      errors.flush()
    },
    end: (): void => {
      if (errors.isTTY) errors.write(clear)
    },
  }
}
