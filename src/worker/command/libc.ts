import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants, endianness } from 'node:os'

const { EBADF } = constants.errno

type Pointer = Buffer | bigint

/** Functions of the C library that Node does not offer, with their C signatures. */
export interface Libc {
  readonly addressOf: (buffer: Buffer) => bigint
  readonly fileActionsInit: (actions: Buffer) => number
  readonly fileActionsDestroy: (actions: Buffer) => number
  readonly fileActionsAddOpen: (actions: Buffer, fd: number, path: string, flags: number, mode: number) => number
  readonly fileActionsAddDup2: (actions: Buffer, from: number, to: number) => number
  readonly fileActionsAddChdir: (actions: Buffer, path: string) => number
  readonly fileActionsAddClose: (actions: Buffer, fd: number) => number
  /** Closes all descriptors from this one on. */
  readonly fileActionsAddCloseFrom: (actions: Buffer, from: number) => number
  readonly attributesInit: (attributes: Buffer) => number
  readonly attributesSetFlags: (attributes: Buffer, flags: number) => number
  readonly attributesSetSignalDefault: (attributes: Buffer, signals: Buffer) => number
  readonly attributesSetSignalMask: (attributes: Buffer, signals: Buffer) => number
  /** Runs in another thread, because it blocks until the exec. Keep the arguments alive until it resolves. */
  readonly posixSpawn: (
    pid: Buffer,
    path: string,
    actions: Buffer,
    attributes: Buffer,
    argv: Pointer,
    environment: Pointer,
  ) => Promise<number>
  readonly prctl: (option: number, ...values: readonly [number, number, number, number]) => number
  /** Returns a descriptor, or -1. */
  readonly memfdCreate: (name: string, flags: number) => number
  /** Writes the descriptors for reading and for writing, two ints. */
  readonly pipe: (descriptors: Buffer, flags: number) => number
  /** Returns the length of the value, or -1. */
  readonly attribute: (path: string, name: string, value: Buffer, sizeBytes: number) => number
  readonly fcntl: (fd: number, command: number, value: number) => number
  /** Error number of the last failed call. */
  readonly errno: () => number
  /** A negative `pid` is a process group. */
  readonly kill: (pid: number, signal: number) => number
  /** `usage` is a `struct rusage`. */
  readonly wait: (pid: number, status: Buffer, options: number, usage: Buffer) => number
}

interface Koffi {
  address(buffer: Buffer): bigint
  errno(): number
  load(library: null): Library
}

interface Library {
  /** Throws if the function does not exist. */
  func<T>(declaration: string): T & InThread
}

/** A C function that can also be called in a thread of the pool. */
interface InThread {
  async(...args: readonly unknown[]): void
}

/**
 * `undefined` if not available: on systems other than 64-bit Linux, without koffi (an optional dependency), or with a C
 * library that lacks a function. `onFailure` gets the reason in the last two cases.
 */
export const loadLibc = (onFailure: (reason: string) => void = () => {}): Libc | undefined => {
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch) || endianness() !== 'LE')
    return undefined
  try {
    const koffi: Koffi = createRequire(import.meta.url)('koffi')
    return libcOf(koffi)
  } catch (error) {
    onFailure(error instanceof Error ? error.message : String(error))
    return undefined
  }
}

const libcOf = (koffi: Koffi): Libc => {
  const library = koffi.load(null)
  const fileActionsAddClose: Libc['fileActionsAddClose'] = library.func(
    'int posix_spawn_file_actions_addclose(void *, int)',
  )
  const posixSpawn: InThread = library.func('int posix_spawn(void *, const char *, void *, void *, void *, void *)')
  return {
    addressOf: (buffer) => koffi.address(buffer),
    fileActionsInit: library.func('int posix_spawn_file_actions_init(void *)'),
    fileActionsDestroy: library.func('int posix_spawn_file_actions_destroy(void *)'),
    fileActionsAddOpen: library.func('int posix_spawn_file_actions_addopen(void *, int, const char *, int, int)'),
    fileActionsAddDup2: library.func('int posix_spawn_file_actions_adddup2(void *, int, int)'),
    fileActionsAddChdir: library.func('int posix_spawn_file_actions_addchdir_np(void *, const char *)'),
    fileActionsAddClose,
    fileActionsAddCloseFrom: closeFromOf(library) ?? closingEach(fileActionsAddClose),
    attributesInit: library.func('int posix_spawnattr_init(void *)'),
    attributesSetFlags: library.func('int posix_spawnattr_setflags(void *, short)'),
    attributesSetSignalDefault: library.func('int posix_spawnattr_setsigdefault(void *, void *)'),
    attributesSetSignalMask: library.func('int posix_spawnattr_setsigmask(void *, void *)'),
    posixSpawn: (...args) =>
      new Promise((resolve, reject) => {
        posixSpawn.async(...args, (error: Error | null, errno: number) =>
          error === null ? resolve(errno) : reject(error),
        )
      }),
    prctl: library.func('int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)'),
    memfdCreate: library.func('int memfd_create(const char *, unsigned int)'),
    attribute: library.func('long getxattr(const char *, const char *, void *, unsigned long)'),
    fcntl: fcntlOf(library),
    pipe: library.func('int pipe2(void *, int)'),
    errno: () => koffi.errno(),
    kill: library.func('int kill(int, int)'),
    wait: library.func('int wait4(int, void *, int, void *)'),
  }
}

/** fcntl is variadic, so the type of its last argument must be passed too. */
const fcntlOf = (library: Library): Libc['fcntl'] => {
  const fcntl: (fd: number, command: number, type: 'int', value: number) => number =
    library.func('int fcntl(int, int, ...)')
  return (fd, command, value) => fcntl(fd, command, 'int', value)
}

/** musl has no such function, and glibc only since 2.34. */
const closeFromOf = (library: Library): Libc['fileActionsAddCloseFrom'] | undefined => {
  try {
    return library.func('int posix_spawn_file_actions_addclosefrom_np(void *, int)')
  } catch {
    return undefined
  }
}

/** Upper bound for descriptors that this process opens while a program starts. */
const OPENED_MEANWHILE = 1000

/**
 * Closes descriptors one by one: those open now, and those that may be opened before the program starts, which get the
 * lowest free numbers. Closing a descriptor that is not open is no failure there.
 */
export const closingEach =
  (addClose: Libc['fileActionsAddClose']): Libc['fileActionsAddCloseFrom'] =>
  (actions, from) => {
    const last = Math.max(from, ...readdirSync('/proc/self/fd').map(Number)) + OPENED_MEANWHILE
    for (let fd = from; fd <= last; fd++) {
      const errno = addClose(actions, fd)
      // Above the limit of descriptors of this process.
      if (errno === EBADF) return 0
      if (errno !== 0) return errno
    }
    return 0
  }
