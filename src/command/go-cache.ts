import { join } from 'node:path'
import { inWords, startFailure } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import { Semaphore } from '../work/semaphore.js'
import { cacheFolder } from './cache-folder.js'
import { CLIENT_DETAILS, CLIENT_OPTIONS, withServer } from './client-options.js'
import { type Command, textOption, UsageError } from './command.js'

/** The go command asks for many actions at once. */
const REQUESTS_AT_A_TIME = 64

export const goCache: Command = {
  name: 'go-cache',
  usage: [['[OPTIONS]', 'serve the go command as GOCACHEPROG, from a folder and a server']],
  details: [
    ['--dir FOLDER', 'the local folder (default: ~/.cache/remexec/go, or in XDG_CACHE_HOME)'],
    ['--read-only', 'upload nothing'],
    ...CLIENT_DETAILS,
  ],
  options: { ...CLIENT_OPTIONS, dir: { type: 'string' }, 'read-only': { type: 'boolean' } },
  run: async (args, console) => {
    if (args.words.length > 0) throw new UsageError('go-cache takes options only')
    // Imported here, because other commands do not need them.
    const { GoCache } = await import('../go-cache/go-cache.js')
    const { GoFolder } = await import('../go-cache/folder.js')
    const { goRequests } = await import('../go-cache/requests.js')
    const path = textOption(args, 'dir') ?? join(cacheFolder(process.env), 'go')
    const folder = new GoFolder(path)
    await folder.open().catch((error: unknown) => {
      throw startFailure('the folder of go-cache', error)
    })
    await withServer(args, console, async (server) => {
      const warn = (message: string): void => void console.errors.write(`remexec go-cache: ${message}\n`)
      const cache = new GoCache(folder, server, warn)
      const answer = async (response: object): Promise<void> => {
        try {
          await console.write(Buffer.from(`${JSON.stringify(response)}\n`))
        } catch (error) {
          throw new StatusError('ABORTED', `the go command does not read the answers: ${inWords(error)}`)
        }
      }
      const isReadOnly = args.options['read-only'] === true
      await answer({ ID: 0, KnownCommands: ['get', ...(isReadOnly ? [] : ['put']), 'close'] })
      const turns = new Semaphore({ permits: REQUESTS_AT_A_TIME })
      const lasting = new AbortController()
      for await (const request of goRequests(process.stdin)) {
        const failed = (error: unknown): Promise<void> =>
          answer({ ID: request.id, Err: StatusError.from(error).message })
        if (request.command === 'close') {
          await cache.close()
          await answer({ ID: request.id })
          return
        }
        if (request.command === 'put' && !isReadOnly) await cache.put(request).then(answer, failed)
        else if (request.command === 'get') {
          const release = await turns.acquire('a request', lasting.signal)
          const answered = cache.get(request).then(answer, failed)
          // Without a reader of its answers, the command ends by the failure of its input.
          answered.then(release, (error: Error) => {
            release()
            process.stdin.destroy(error)
          })
        } else await answer({ ID: request.id, Err: `there is no command ${JSON.stringify(request.command)}` })
      }
      await cache.close()
    })
    return 0
  },
}
