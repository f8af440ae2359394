import { createServer, type Server, type Socket } from 'node:net'
import { systemClock } from '../base/clock.js'
import { guardedTimeout } from '../base/timers.js'
import { version } from '../base/version.js'
import type { StartedByCcache } from '../ccache-storage/started-by-ccache.js'
import type { CcacheStorage, StorageParts } from '../ccache-storage/storage.js'
import { CLIENT_DETAILS, CLIENT_OPTIONS, withServer } from './client-options.js'
import { type Arguments, type Command, textOption, UsageError } from './command.js'

/** Part of every key. */
const TOOL = 'ccache/1'
/** A helper that cannot work only says why, and makes room for one that can. */
const BROKEN_IDLE_MS = 10_000

export const ccacheStorage: Command = {
  name: 'ccache-storage',
  usage: [['[OPTIONS]', 'serve ccache (4.13 and later) as its storage helper, from a server']],
  details: [
    ['--socket PATH', 'listen there, for `crsh:PATH` (default: as ccache says when it starts the helper)'],
    ...CLIENT_DETAILS,
  ],
  options: { ...CLIENT_OPTIONS, socket: { type: 'string' } },
  run: async (args, console) => {
    if (args.words.length > 0) throw new UsageError('ccache-storage takes options only')
    // Imported here, because other commands do not need them.
    const { startedByCcache } = await import('../ccache-storage/started-by-ccache.js')
    const { CcacheStorage } = await import('../ccache-storage/storage.js')
    const { RemoteEntries } = await import('../client/entries.js')
    const serve = (socketPath: string, idleTimeoutMs: number, entries: StorageParts['entries']): Promise<void> => {
      const hide = (text: string): string => console.secrets.hide(text)
      const identity = `remexec ccache-storage ${version()}`
      return serveSocket(new CcacheStorage({ entries, identity, clock: systemClock, hide }), socketPath, idleTimeoutMs)
    }
    const socketPath = textOption(args, 'socket')
    if (socketPath !== undefined) {
      await withServer(args, console, (server) => serve(socketPath, 0, new RemoteEntries(server, TOOL)))
      return 0
    }
    const endpoint = process.env['CRSH_IPC_ENDPOINT']
    if (endpoint === undefined)
      throw new UsageError('ccache starts this program (CRSH_IPC_ENDPOINT, CRSH_URL), or you do, with --socket')
    let isServing = false
    try {
      const started = startedByCcache(process.env)
      await withServer(argumentsOf(started), console, (server) => {
        isServing = true
        return serve(endpoint, started.idleTimeoutMs, new RemoteEntries(server, TOOL))
      })
    } catch (error) {
      if (isServing) throw error
      // ccache reads no output of the helper. It logs what it is answered.
      await serve(endpoint, BROKEN_IDLE_MS, error as Error)
    }
    return 0
  },
}

/** The attributes of the storage are the options of this command, and `bearer-token`. */
const argumentsOf = ({ address, instanceName, attributes }: StartedByCcache): Arguments => {
  const headers: string[] = []
  const options: Record<string, string> = { server: address, instance: instanceName }
  for (const [name, value] of attributes) {
    if (name === 'bearer-token') headers.push(`authorization=Bearer ${value}`)
    else if (name === 'header') headers.push(value)
    else if (ATTRIBUTES.has(name)) options[name] = value
    else throw new UsageError(`there is no attribute @${name}, expected one of @${[...ATTRIBUTES].join(', @')}`)
  }
  return { words: [], options: { ...options, header: headers } }
}

const ATTRIBUTES = new Set(
  ['bearer-token', ...Object.keys(CLIENT_OPTIONS)].filter((name) => !/^(server|instance)$/.test(name)),
)

/** Resolves when a client asks the helper to stop, or none asked anything for `idleTimeoutMs` (0: never). */
const serveSocket = async (storage: CcacheStorage, path: string, idleTimeoutMs: number): Promise<void> => {
  const { bindUnix } = await import('../server/unix-socket.js')
  const sockets = new Set<Socket>()
  const net = createServer()
  const ended = new Promise<void>((resolve) => {
    const idle = new IdleTimer(idleTimeoutMs, resolve)
    net.on('connection', (socket) => {
      sockets.add(socket)
      const gone = new AbortController()
      socket.once('close', () => {
        sockets.delete(socket)
        gone.abort()
      })
      // Its end is seen by the reader.
      socket.on('error', () => {})
      const write = (bytes: Buffer): Promise<void> =>
        new Promise((done, failed) => socket.write(bytes, (error) => (error ? failed(error) : done())))
      storage
        .serve({ input: socket, write, signal: gone.signal }, () => idle.work())
        .then(
          (how) => {
            if (how === 'stopped') resolve()
          },
          // The protocol has no other answer to a broken request or a value that breaks off.
          () => {},
        )
        .finally(() => socket.destroy())
    })
  })
  await bindUnix(net, `unix:${path}`, 0o600)
  await ended
  await closed(net, sockets)
}

const closed = (net: Server, sockets: ReadonlySet<Socket>): Promise<void> =>
  new Promise((resolve) => {
    net.close(() => resolve())
    for (const socket of sockets) socket.destroy()
  })

/** Calls back when nothing was done for a time. */
class IdleTimer {
  readonly #idleMs: number
  readonly #onIdle: () => void
  #running = 0
  #timer: NodeJS.Timeout | undefined

  constructor(idleMs: number, onIdle: () => void) {
    this.#idleMs = idleMs
    this.#onIdle = onIdle
    this.#restart()
  }

  /** The returned function ends the work. */
  work(): () => void {
    this.#running += 1
    clearTimeout(this.#timer)
    return () => {
      this.#running -= 1
      this.#restart()
    }
  }

  #restart(): void {
    if (this.#running === 0 && this.#idleMs > 0) this.#timer = guardedTimeout(this.#onIdle, this.#idleMs)
  }
}
