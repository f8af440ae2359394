import { constants } from 'node:fs'
import { constants as system } from 'node:os'
import { getSystemErrorName } from 'node:util'
import type { Libc } from './libc.js'
import type { Program, ProgramEvents, ProgramUsage, Starter } from './starter.js'

/** More than any C library has for `posix_spawnattr_t`, `posix_spawn_file_actions_t` and `sigset_t`. */
const OPAQUE_BYTES = 1024
const POINTER_BYTES = 8

/** `POSIX_SPAWN_*` of Linux, in glibc and musl. */
const SET_SIGNAL_DEFAULT = 0x04
const SET_SIGNAL_MASK = 0x08
const SET_SESSION = 0x80

const WAIT_NO_HANG = 1
/** More than `struct rusage` has. */
const RUSAGE_BYTES = 256
const HEARTBEAT_MS = 1000

/**
 * Starts programs by posix_spawn, which lends the memory of this process to the new one up to its exec: half of what a
 * fork costs is copying page tables. Only what was started here is waited for, so that Node may have children of its own.
 *
 * It is called in the thread of the event loop, which stands still up to the exec. In other threads a program that is being started
 * would have the descriptors by which inputs are being written, and those that are executed then are "Text file busy".
 */
export const posixStarter = (libc: Libc): Starter => {
  const attributes = attributesOf(libc)
  const running = new Map<number, ProgramEvents['onExit']>()
  let heartbeat: NodeJS.Timeout | undefined
  const reapAll = (): void => {
    reap(libc, running)
    if (running.size > 0) return
    clearInterval(heartbeat)
    heartbeat = undefined
  }
  process.on('SIGCHLD', reapAll)
  return (program, { onStart, onExit, onFailure }) => {
    const started = startFirst(program, (path, argv) => spawn(libc, attributes, path, { ...program, argv }))
    if ('errno' in started) {
      onFailure(getSystemErrorName(-started.errno))
      return
    }
    running.set(started.pid, onExit)
    // A signal keeps no process alive; what runs does.
    heartbeat ??= setInterval(reapAll, HEARTBEAT_MS)
    onStart(started.pid)
  }
}

type Started = { readonly pid: number } | { readonly errno: number }

/** One signal may stand for several ends. */
const reap = (libc: Libc, running: Map<number, ProgramEvents['onExit']>): void => {
  const status = Buffer.alloc(4)
  const usage = Buffer.alloc(RUSAGE_BYTES)
  for (const [pid, onExit] of running) {
    if (libc.wait(pid, status, WAIT_NO_HANG, usage) !== pid) continue
    running.delete(pid)
    const signal = status.readInt32LE() & 0x7f
    onExit(signal === 0 ? status.readUInt8(1) : 128 + signal, usageIn(usage))
  }
}

/**
 * `struct rusage` of 64-bit Linux: two `timeval`s, then the peak in KiB. What a program had before its exec counts too, and that was
 * the memory of this process.
 */
const usageIn = (usage: Buffer): ProgramUsage => {
  const ms = (at: number): number =>
    Number(usage.readBigInt64LE(at)) * 1000 + Number(usage.readBigInt64LE(at + 8)) / 1000
  const peakKib = Number(usage.readBigInt64LE(32))
  const isOwn = peakKib > process.resourceUsage().maxRSS
  return { userMs: ms(0), systemMs: ms(16), peakResidentBytes: isOwn ? peakKib * 1024 : undefined }
}

const { EINVAL, ENOENT, ENOTDIR, EACCES, ENOEXEC, ESTALE, ENODEV, ETIMEDOUT } = system.errno
const NOT_HERE: readonly number[] = [ENOENT, ENOTDIR, ESTALE, ENODEV, ETIMEDOUT]
/** Of glibc's execvp, for programs without a PATH. */
const DEFAULT_PATH = '/bin:/usr/bin'

/** As execvp in the environment of the program: the first that can be executed, a file in no known format by the shell. */
const startFirst = (program: Program, start: (path: string, argv: readonly string[]) => Started): Started => {
  const { argv } = program
  let errno = ENOENT
  for (const path of candidates(program)) {
    const started = start(path, argv)
    if ('pid' in started) return started
    if (started.errno === ENOEXEC) return start('/bin/sh', ['/bin/sh', path, ...argv.slice(1)])
    if (started.errno === EACCES) errno = EACCES
    else if (!NOT_HERE.includes(started.errno)) return started
  }
  return { errno }
}

const candidates = ({ argv: [file = ''], environment }: Program): readonly string[] => {
  if (file === '' || file.includes('/')) return [file]
  const [, path = DEFAULT_PATH] = environment.find(([name]) => name === 'PATH') ?? []
  return path.split(':').map((folder) => (folder === '' ? file : `${folder}/${file}`))
}

/** Signals that this process ignores or blocks are the program's to decide about. */
const attributesOf = (libc: Libc): Buffer => {
  const attributes = Buffer.alloc(OPAQUE_BYTES)
  check(libc.attributesInit(attributes))
  check(libc.attributesSetSignalDefault(attributes, Buffer.alloc(OPAQUE_BYTES, 0xff)))
  check(libc.attributesSetSignalMask(attributes, Buffer.alloc(OPAQUE_BYTES)))
  check(libc.attributesSetFlags(attributes, SET_SESSION | SET_SIGNAL_DEFAULT | SET_SIGNAL_MASK))
  return attributes
}

const check = (errno: number): void => {
  if (errno !== 0) throw new Error(`posix_spawn cannot be prepared (${getSystemErrorName(-errno)})`)
}

const spawn = (libc: Libc, attributes: Buffer, path: string, program: Program): Started => {
  const { argv, cwd, environment, stdout, stderr } = program
  const strings = [...argv, ...environment.map(([name, value]) => `${name}=${value}`)]
  // The C library would take what stands before it.
  if ([path, cwd, ...strings].some((text) => text.includes('\0'))) return { errno: EINVAL }
  const pid = Buffer.alloc(4)
  const actions = Buffer.alloc(OPAQUE_BYTES)
  const block = pointerBlock(libc, strings, argv.length)
  check(libc.fileActionsInit(actions))
  try {
    check(libc.fileActionsAddOpen(actions, 0, '/dev/null', constants.O_RDONLY, 0))
    check(libc.fileActionsAddDup2(actions, stdout, 1))
    check(libc.fileActionsAddDup2(actions, stderr, 2))
    check(libc.fileActionsAddChdir(actions, cwd))
    const environmentAt = libc.addressOf(block) + BigInt((argv.length + 1) * POINTER_BYTES)
    const errno = libc.posixSpawn(pid, path, actions, attributes, block, environmentAt)
    return errno === 0 ? { pid: pid.readInt32LE() } : { errno }
  } finally {
    libc.fileActionsDestroy(actions)
  }
}

/**
 * Two lists of pointers that end in null, the first with `count` entries, and after them the strings they point to. One
 * piece of memory, so that what is passed for the first list keeps all of it alive during the call.
 */
const pointerBlock = (libc: Libc, strings: readonly string[], count: number): Buffer => {
  const encoded = strings.map((text) => Buffer.from(`${text}\0`))
  const headBytes = (strings.length + 2) * POINTER_BYTES
  const block = Buffer.alloc(encoded.reduce((sum, { length }) => sum + length, headBytes))
  let at = libc.addressOf(block) + BigInt(headBytes)
  let offset = headBytes
  for (const [index, bytes] of encoded.entries()) {
    block.writeBigUInt64LE(at, (index < count ? index : index + 1) * POINTER_BYTES)
    bytes.copy(block, offset)
    at += BigInt(bytes.length)
    offset += bytes.length
  }
  return block
}
