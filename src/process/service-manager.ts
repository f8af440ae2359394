import { createRequire } from 'node:module'
import { guardedInterval, guardedTimeout } from '../base/timers.js'
import type { Log } from '../log/log.js'

/** What the service manager of the machine, such as systemd, is told (sd_notify(3)). Without one nothing happens. */
export interface ServiceManager {
  /** The start goes on for as long as it takes, until `ready`. */
  starting(): void
  /** `status` is one line for people, which `systemctl status` shows. Also ends `reloading`. */
  ready(status: string): void
  reloading(): void
  stopping(status: string): void
}

/** How often the manager hears that the start goes on, and for how long each time. */
const STARTING_MS = 10_000
const EXTENSION_US = 60_000_000

/**
 * The service manager that NOTIFY_SOCKET names. Takes its variables out of `env`, because programs that this process starts must not
 * speak for it. `send` is for tests.
 */
export const serviceManager = (env: NodeJS.ProcessEnv, log: Log, send = sender(env, log)): ServiceManager => {
  const watchdogMs = watchdogMsOf(env)
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name]
  let starting: NodeJS.Timeout | undefined
  let isWatched = false
  if (send === undefined) return { starting: () => {}, ready: () => {}, reloading: () => {}, stopping: () => {} }
  return {
    starting: () => {
      const goesOn = (): void => send(`STATUS=starting\nEXTEND_TIMEOUT_USEC=${EXTENSION_US}`)
      goesOn()
      starting = guardedInterval(goesOn, STARTING_MS).unref()
    },
    ready: (status) => {
      clearInterval(starting)
      send(`READY=1\nSTATUS=${oneLine(status)}`)
      // Stays away when the event loop is blocked for so long that nobody is served.
      if (watchdogMs > 0 && !isWatched) guardedInterval(() => send('WATCHDOG=1'), watchdogMs / 2).unref()
      isWatched = true
    },
    reloading: () =>
      send(`RELOADING=1\nMONOTONIC_USEC=${process.hrtime.bigint() / 1000n}\nSTATUS=reading the configuration again`),
    stopping: (status) => {
      clearInterval(starting)
      send(`STOPPING=1\nSTATUS=${oneLine(status)}`)
    },
  }
}

const oneLine = (text: string): string => text.replaceAll('\n', ' ')

/** 0 if the manager does not watch this process. */
const watchdogMsOf = ({ WATCHDOG_USEC: text = '', WATCHDOG_PID: pid = '' }: NodeJS.ProcessEnv): number =>
  /^[1-9]\d{0,14}$/.test(text) && (pid === '' || pid === String(process.pid)) ? Number(text) / 1000 : 0

const AF_UNIX = 1
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000
const MSG_DONTWAIT_NOSIGNAL = 0x40 | 0x4000
const EAGAIN = 11
/** Of sockaddr_un. */
const MAX_PATH_BYTES = 107
const RETRY_MS = 100
const MAX_TRIES = 50

interface Koffi {
  load(library: null): { func(declaration: string): (...args: readonly unknown[]) => number }
  errno(): number
}

/** Undefined without a manager. Node has no datagrams over local sockets, so the C library sends them. */
const sender = ({ NOTIFY_SOCKET: path = '' }: NodeJS.ProcessEnv, log: Log): ((text: string) => void) | undefined => {
  if (path === '') return undefined
  const address = addressOf(path)
  if (address === undefined) {
    log.error('the service manager cannot be told about the start: NOTIFY_SOCKET is no path', { NOTIFY_SOCKET: path })
    return undefined
  }
  try {
    const koffi: Koffi = createRequire(import.meta.url)('koffi')
    const library = koffi.load(null)
    const open = library.func('int socket(int domain, int type, int protocol)')
    const sendTo = library.func(
      'long sendto(int fd, void *data, size_t size, int flags, void *address, uint32_t length)',
    )
    const fd = open(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0)
    const trySend = (data: Buffer, triesLeft: number): void => {
      if (sendTo(fd, data, data.length, MSG_DONTWAIT_NOSIGNAL, address, address.length) >= 0) return
      const errno = koffi.errno()
      // The queue of the manager is full.
      if (errno === EAGAIN && triesLeft > 0) guardedTimeout(() => trySend(data, triesLeft - 1), RETRY_MS).unref()
      else log.warn('the service manager cannot be told', { NOTIFY_SOCKET: path, errno, message: data.toString() })
    }
    return (text) => trySend(Buffer.from(text), MAX_TRIES)
  } catch (error) {
    const advice = 'install it (npm install koffi), or set Type=exec in the unit'
    log.error(`the service manager waits for a message that needs the package koffi: ${advice}`, { error })
    return undefined
  }
}

/** sockaddr_un(7): a path, or after @ a name without a file. */
const addressOf = (path: string): Buffer | undefined => {
  const name = Buffer.from(path.startsWith('@') ? `\0${path.slice(1)}` : path)
  if (!/^[/@]./.test(path) || name.length > MAX_PATH_BYTES) return undefined
  const family = Buffer.alloc(2)
  family.writeUInt16LE(AF_UNIX)
  return Buffer.concat([family, name, ...(path.startsWith('@') ? [] : [Buffer.alloc(1)])])
}
