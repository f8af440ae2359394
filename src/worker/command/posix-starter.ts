import { constants } from 'node:fs'
import { constants as system } from 'node:os'
import { getSystemErrorName } from 'node:util'
import { errnoOf } from '../../base/errno.js'
import { guardedInterval } from '../../base/timers.js'
import type { Libc } from './libc.js'
import { DEFAULT_PATH } from './program.js'
import { GATE_FD, type Program, type ProgramEvents, type ProgramUsage, STATUS_FD, type Starter } from './starter.js'
import { beginStart } from './starts.js'

/** Larger than `posix_spawnattr_t`, `posix_spawn_file_actions_t` and `sigset_t` of any C library. */
const OPAQUE_BYTES = 1024
const POINTER_BYTES = 8

/** `POSIX_SPAWN_*` of Linux, in glibc and musl. */
const SET_SIGNAL_DEFAULT = 0x04
const SET_SIGNAL_MASK = 0x08
const SET_SESSION = 0x80

const WAIT_NO_HANG = 1
/** Larger than `struct rusage`. */
const RUSAGE_BYTES = 256
const HEARTBEAT_MS = 1000

/** The number of libuv threads. Further calls would queue there, each with memory of koffi. */
const STARTS_AT_A_TIME = 4

/**
 * Starts programs by posix_spawn: until its exec, the new process uses the memory of this one. A fork would copy the
 * page tables, which is half of its cost. The call blocks until that exec, so it runs in other threads. Measured with
 * two lanes of `/bin/true` on a busy machine with two cores: 380 starts a second in the thread of the event loop, 1,000
 * in other threads. Only programs started here are waited for, so Node may have its own children.
 */
export const posixStarter = (libc: Libc): Starter => {
  const attributes = attributesOf(libc)
  const inTurn = startsInTurn()
  const running = new Map<number, ProgramEvents['onExit']>()
  let heartbeat: NodeJS.Timeout | undefined
  const reap = (pids: Iterable<number>): void => {
    for (const pid of pids) reapOne(libc, pid, running)
    if (running.size > 0) return
    clearInterval(heartbeat)
    heartbeat = undefined
  }
  const reapAll = (): void => reap(running.keys())
  process.on('SIGCHLD', reapAll)
  const start = async (program: Program, { onStart, onExit, onFailure }: ProgramEvents): Promise<void> => {
    const started = await inTurn(() =>
      beginStart(() => startFirst(program, (path, argv) => spawn(libc, attributes, path, { ...program, argv }))),
    ).catch((error: unknown) => ({ failure: errnoOf(error) }))
    if (!('pid' in started)) {
      onFailure('errno' in started ? getSystemErrorName(-started.errno) : started.failure)
      return
    }
    running.set(started.pid, onExit)
    // A signal handler does not keep the process alive, so running programs need a timer.
    heartbeat ??= guardedInterval(reapAll, HEARTBEAT_MS)
    onStart(started.pid)
    // SIGCHLD may have arrived before the pid was known.
    reap([started.pid])
  }
  return (program, events) => void start(program, events)
}

type Started = { readonly pid: number } | { readonly errno: number }

/** Limits concurrent starts to STARTS_AT_A_TIME. */
const startsInTurn = () => {
  const waiting: (() => void)[] = []
  let free = STARTS_AT_A_TIME
  return async (start: () => Promise<Started>): Promise<Started> => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await start()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}

const reapOne = (libc: Libc, pid: number, running: Map<number, ProgramEvents['onExit']>): void => {
  const status = Buffer.alloc(4)
  const usage = Buffer.alloc(RUSAGE_BYTES)
  if (libc.wait(pid, status, WAIT_NO_HANG, usage) !== pid) return
  const onExit = running.get(pid)
  running.delete(pid)
  const signal = status.readInt32LE() & 0x7f
  onExit?.(signal === 0 ? status.readUInt8(1) : 128 + signal, usageIn(usage))
}

/**
 * `struct rusage` of 64-bit Linux: two `timeval`s, then the peak in KiB. The peak includes the time before the exec,
 * when the program used the memory of this process.
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

/**
 * Searches like execvp in the environment of the program: the first executable file. A file of unknown format runs in
 * the shell.
 */
const startFirst = async (
  program: Program,
  start: (path: string, argv: readonly string[]) => Promise<Started>,
): Promise<Started> => {
  const { argv } = program
  const paths = candidates(program)
  let errno = ENOENT
  for (const path of paths) {
    const started = await start(path, argv)
    if ('pid' in started) return started
    if (started.errno === ENOEXEC) return start('/bin/sh', ['/bin/sh', path, ...argv.slice(1)])
    if (started.errno === EACCES) errno = EACCES
    else if (paths.length === 1 || !NOT_HERE.includes(started.errno)) return started
  }
  return { errno }
}

const candidates = ({ argv: [file = ''], environment }: Program): readonly string[] => {
  if (file === '' || file.includes('/')) return [file]
  const [, path = DEFAULT_PATH] = environment.find(([name]) => name === 'PATH') ?? []
  return path.split(':').map((folder) => (folder === '' ? file : `${folder}/${file}`))
}

/** Resets ignored and blocked signals of this process to their defaults for the program. */
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

/** Buffers that the C library reads in other threads. This reference keeps them from garbage collection. */
const lent = new Set<Buffer>()

const spawn = async (libc: Libc, attributes: Buffer, path: string, program: Program): Promise<Started> => {
  const { argv, cwd, environment, stdin, stdout, stderr, status, gate } = program
  const strings = [...argv, ...environment.map(([name, value]) => `${name}=${value}`)]
  // The C library would cut the text at the NUL byte.
  if ([path, cwd, ...strings].some((text) => text.includes('\0'))) return { errno: EINVAL }
  const pid = Buffer.alloc(4)
  const actions = Buffer.alloc(OPAQUE_BYTES)
  const block = pointerBlock(libc, strings, argv.length)
  check(libc.fileActionsInit(actions))
  const memory = [pid, actions, block]
  for (const piece of memory) lent.add(piece)
  try {
    if (stdin === undefined) check(libc.fileActionsAddOpen(actions, 0, '/dev/null', constants.O_RDONLY, 0))
    else check(libc.fileActionsAddDup2(actions, stdin, 0))
    check(libc.fileActionsAddDup2(actions, stdout, 1))
    check(libc.fileActionsAddDup2(actions, stderr, 2))
    if (status !== undefined) check(libc.fileActionsAddDup2(actions, status, STATUS_FD))
    if (gate !== undefined) check(libc.fileActionsAddDup2(actions, gate, GATE_FD))
    const last = gate === undefined ? status && STATUS_FD : GATE_FD
    // Close-on-exec would be too late: the kernel resumes this process before it closes those descriptors.
    check(libc.fileActionsAddCloseFrom(actions, (last ?? STATUS_FD - 1) + 1))
    check(libc.fileActionsAddChdir(actions, cwd))
    const environmentAt = libc.addressOf(block) + BigInt((argv.length + 1) * POINTER_BYTES)
    const errno = await libc.posixSpawn(pid, path, actions, attributes, block, environmentAt)
    return errno === 0 ? { pid: pid.readInt32LE() } : { errno }
  } finally {
    for (const piece of memory) lent.delete(piece)
    libc.fileActionsDestroy(actions)
  }
}

/**
 * Two null-terminated lists of pointers in one block of memory, followed by the strings they point to. The first list
 * has `count` entries.
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
