import { columns } from '../base/columns.js'
import { decimalSize } from '../base/decimal-size.js'
import { errnoOf, inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import { type Command, textOption, UsageError } from './command.js'

const DEFAULT_COUNT = 20

export const ls: Command = {
  name: 'ls',
  usage: [
    ['DIR [--largest N]', `list the largest blobs in the content_path of a file store (default ${DEFAULT_COUNT})`],
  ],
  details: [['DIR', 'a content_path that no server uses now: the API of servers has no listing']],
  options: { largest: { type: 'string' } },
  run: async (args, { print }) => {
    const [folder, ...more] = args.words
    if (folder === undefined || more.length > 0) throw new UsageError('expected one DIR')
    const count = textOption(args, 'largest') ?? String(DEFAULT_COUNT)
    if (!/^[1-9]\d{0,8}$/.test(count)) throw new UsageError(`--largest ${count}: expected a number from 1`)
    // Imported here, because other commands do not need the store.
    const { largestBlobs } = await import('../store/kinds/filesystem/list-folder.js')
    try {
      const blobs = await largestBlobs(folder, Number(count))
      const rows = blobs.map(({ key, storedBytes, usedMs }) => [decimalSize(storedBytes), whenOf(usedMs), key])
      print(
        columns([['size', 'last used', 'blob'], ...rows])
          .map((row) => `${row}\n`)
          .join(''),
      )
      return 0
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
      throw new StatusError('FAILED_PRECONDITION', `${folder}: ${inWords(error)}`)
    }
  },
}

const whenOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
