import { createRequire } from 'node:module'
import { endianness } from 'node:os'

type Pointer = Buffer | bigint

/** The functions of the C library that Node does not offer, as they are called there. */
export interface Libc {
  readonly addressOf: (buffer: Buffer) => bigint
  readonly fileActionsInit: (actions: Buffer) => number
  readonly fileActionsDestroy: (actions: Buffer) => number
  readonly fileActionsAddOpen: (actions: Buffer, fd: number, path: string, flags: number, mode: number) => number
  readonly fileActionsAddDup2: (actions: Buffer, from: number, to: number) => number
  readonly fileActionsAddChdir: (actions: Buffer, path: string) => number
  readonly attributesInit: (attributes: Buffer) => number
  readonly attributesSetFlags: (attributes: Buffer, flags: number) => number
  readonly attributesSetSignalDefault: (attributes: Buffer, signals: Buffer) => number
  readonly attributesSetSignalMask: (attributes: Buffer, signals: Buffer) => number
  readonly posixSpawn: (
    pid: Buffer,
    path: string,
    actions: Buffer,
    attributes: Buffer,
    argv: Pointer,
    environment: Pointer,
  ) => number
  readonly prctl: (option: number, ...values: readonly [number, number, number, number]) => number
  /** Answers a descriptor, or -1. */
  readonly memfdCreate: (name: string, flags: number) => number
  /** `usage` is a `struct rusage`. */
  readonly wait: (pid: number, status: Buffer, options: number, usage: Buffer) => number
}

interface Koffi {
  address(buffer: Buffer): bigint
  load(library: null): { func<T>(declaration: string): T }
}

/**
 * `undefined` where this cannot be: on other systems than 64-bit Linux and, with a word about it, without koffi, which is
 * an optional dependency, or with a C library that lacks something.
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
  return {
    addressOf: (buffer) => koffi.address(buffer),
    fileActionsInit: library.func('int posix_spawn_file_actions_init(void *)'),
    fileActionsDestroy: library.func('int posix_spawn_file_actions_destroy(void *)'),
    fileActionsAddOpen: library.func('int posix_spawn_file_actions_addopen(void *, int, const char *, int, int)'),
    fileActionsAddDup2: library.func('int posix_spawn_file_actions_adddup2(void *, int, int)'),
    fileActionsAddChdir: library.func('int posix_spawn_file_actions_addchdir_np(void *, const char *)'),
    attributesInit: library.func('int posix_spawnattr_init(void *)'),
    attributesSetFlags: library.func('int posix_spawnattr_setflags(void *, short)'),
    attributesSetSignalDefault: library.func('int posix_spawnattr_setsigdefault(void *, void *)'),
    attributesSetSignalMask: library.func('int posix_spawnattr_setsigmask(void *, void *)'),
    posixSpawn: library.func('int posix_spawn(void *, const char *, void *, void *, void *, void *)'),
    prctl: library.func('int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)'),
    memfdCreate: library.func('int memfd_create(const char *, unsigned int)'),
    wait: library.func('int wait4(int, void *, int, void *)'),
  }
}
