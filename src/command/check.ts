import { counted, decimalSize } from '../base/decimal-size.js'
import { errnoOf, inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import type { FolderReport } from '../store/kinds/filesystem/check-folder.js'
import { type Command, type Console, UsageError } from './command.js'

const PROGRESS_PERIOD_MS = 500

export const check: Command = {
  name: 'check',
  usage: [['DIR', 'read everything in the content_path of a file store, and list what is damaged']],
  details: [
    ['DIR', 'a content_path that no server uses now; nothing in it is changed'],
    [
      '--cas',
      'each key is the hash of its blob: DIR is no action cache, has no encoded blobs, and no instance with `isolate` uses it',
    ],
  ],
  options: { cas: { type: 'boolean' } },
  run: async (args, console) => {
    const [folder, ...more] = args.words
    if (folder === undefined || more.length > 0) throw new UsageError('expected one DIR')
    const { checkFolder } = await import('../store/kinds/filesystem/check-folder.js')
    const { progress, end } = showProgress(console)
    try {
      const report = await checkFolder(folder, progress, { isCas: args.options['cas'] === true })
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
    ...(hashes.ofItsLength > 0
      ? [
          `${hashes.ofItsLength.toLocaleString('en-US')} of them have as many bytes as their key says: they are wrong, unless instances with \`isolate\` use the folder. If none does, and it is no action cache, run it again with --cas`,
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
