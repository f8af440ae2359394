import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PERIOD_MICROS = 100_000

/** Where the kernel bounds the processor time of single threads. */
interface Cgroups {
  readonly name: string
  /** Makes the group in which those of the threads are. */
  prepare(folder: string, pid: number): void
  /** Puts a thread into a group of its own. */
  bound(folder: string, thread: string, micros: number): void
  readonly root: string
}

const write = (value: string, ...path: string[]): void => writeFileSync(join(...path), value)

const v2: Cgroups = {
  name: 'cgroup v2',
  root: '/sys/fs/cgroup',
  prepare: (folder, pid) => {
    write('+cpu', v2.root, 'cgroup.subtree_control')
    write(String(pid), folder, 'cgroup.procs')
  },
  bound: (folder, thread, micros) => {
    const own = join(folder, thread)
    mkdirSync(own)
    write('threaded', own, 'cgroup.type')
    write('+cpu', folder, 'cgroup.subtree_control')
    write(`${micros} ${PERIOD_MICROS}`, own, 'cpu.max')
    write(thread, own, 'cgroup.threads')
  },
}

const v1: Cgroups = {
  name: 'cgroup v1',
  root: '/sys/fs/cgroup/cpu',
  prepare: () => {},
  bound: (folder, thread, micros) => {
    const own = join(folder, thread)
    mkdirSync(own)
    write(String(PERIOD_MICROS), own, 'cpu.cfs_period_us')
    write(String(micros), own, 'cpu.cfs_quota_us')
    write(thread, own, 'tasks')
  },
}

const isUsable = ({ root, name }: Cgroups): boolean => {
  try {
    if (name === v2.name && !readFileSync(join(root, 'cgroup.controllers'), 'utf8').includes('cpu ')) return false
    accessSync(join(root, 'cgroup.procs'), constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Undefined where this user cannot bound threads. */
export const cgroups = [v2, v1].find(isUsable)

/**
 * Bounds every thread that a process has now, each to this share of a processor. Returns what removes the groups once the process
 * has ended.
 */
export const boundThreads = (pid: number, share: number): (() => void) => {
  if (cgroups === undefined)
    throw new Error('this user cannot bound threads: no cgroup with the cpu controller is writable')
  const folder = join(cgroups.root, `remexec-bench-${pid}`)
  mkdirSync(folder)
  cgroups.prepare(folder, pid)
  const threads = readdirSync(`/proc/${pid}/task`)
  for (const thread of threads) cgroups.bound(folder, thread, share * PERIOD_MICROS)
  return () => {
    for (const thread of threads) rmdirSync(join(folder, thread))
    rmdirSync(folder)
  }
}
