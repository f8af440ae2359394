import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { errnoOf } from '../../base/errno.js'
import { childrenOf } from '../command/process-facts.js'
import { numberIn } from './hierarchy.js'
import { moveTo } from './place.js'
import { within } from './settled.js'

/** A limit and what set it, in words for the author of the action. */
export interface MemoryLimit {
  readonly bytes: number
  readonly from: string
}

export interface GroupLimits {
  /** Undefined for no limit. */
  readonly memory: MemoryLimit | undefined
  /** Processes and their threads; 0 for no limit. */
  readonly processes: number
  /** Share of the processors while they are contended, relative to 100 of an action that asks for none. */
  readonly cpuWeight: number
}

/** What became of a group. */
export interface GroupFacts {
  /** Most bytes at a time, with files in memory and cached pages. Undefined if the kernel does not tell. */
  readonly memoryPeakBytes: number | undefined
  /** Why the kernel ended it, or would not let it go on. */
  readonly excess: string | undefined
  /** The kernel ended it at its own limit of memory. */
  readonly exceededMemory: boolean
  /** The kernel ended a process in it because the machine had no memory left, not because of a limit of its own. */
  readonly lackedMemory: boolean
  /** Its processes have not ended in time, so it is still there. */
  readonly isLeft: boolean
}

/** Kernels end even processes that wait for a disk in this time, unless the disk is broken. */
const END_MS = 10_000
const GONE = ['ENOENT', 'ENODEV']

/** The control group of one command. */
export class ActionGroup {
  readonly #path: string
  readonly #limits: GroupLimits
  readonly #hasCpu: boolean
  #isOver = false

  private constructor(path: string, limits: GroupLimits, hasCpu: boolean) {
    this.#path = path
    this.#limits = limits
    this.#hasCpu = hasCpu
  }

  static make(path: string, limits: GroupLimits, hasCpu: boolean): ActionGroup {
    mkdirSync(path)
    const group = new ActionGroup(path, limits, hasCpu)
    try {
      group.#set()
      return group
    } catch (error) {
      rmdirSync(path)
      throw error
    }
  }

  #set(): void {
    const { memory, processes, cpuWeight } = this.#limits
    const set = (file: string, value: string | number): void => writeFileSync(`${this.#path}/${file}`, String(value))
    // Half an action is of no use, and would go on for long.
    set('memory.oom.group', 1)
    if (memory !== undefined) {
      set('memory.max', memory.bytes)
      this.#setIfThere('memory.swap.max', 0)
    }
    if (processes > 0) set('pids.max', processes)
    if (cpuWeight !== 100 && this.#hasCpu) set('cpu.weight', cpuWeight)
  }

  /** Kernels without swap have no such file. */
  #setIfThere(file: string, value: number): void {
    try {
      writeFileSync(`${this.#path}/${file}`, String(value))
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'EACCES') throw error
    }
  }

  /**
   * Takes in a process and what it has started. What they start from now on is in the group too.
   * A program that waits (`Program.gate`) has started nothing that could escape.
   */
  admit(pid: number): void {
    const known = new Set<number>()
    const waiting = [pid]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (known.has(next)) continue
      known.add(next)
      moveTo(this.#path, next)
      waiting.push(...childrenOf(next))
    }
  }

  /** Ends all processes in it, at once. No effect after `end`. */
  kill(): void {
    if (this.#isOver) return
    try {
      writeFileSync(`${this.#path}/cgroup.kill`, '1')
    } catch (error) {
      // Somebody has removed the group, which they can only if it is empty.
      if (!GONE.includes(errnoOf(error) ?? '')) throw error
    }
  }

  /** The limit that it has run into, of those that do not end it. */
  exceeded(): string | undefined {
    const { processes } = this.#limits
    if (processes === 0 || numberIn(`${this.#path}/pids.events`, 'max') === 0) return undefined
    return `it had more than ${processes} processes and threads`
  }

  /** Ends what is left, and removes the group. Call it once. */
  async end(): Promise<GroupFacts> {
    const facts = this.#facts()
    this.kill()
    this.#isOver = true
    const isLeft = !(await within(END_MS, this.#path))
    if (!isLeft) rmdirSync(this.#path)
    return { ...facts, isLeft }
  }

  #facts(): Omit<GroupFacts, 'isLeft'> {
    const kills = numberIn(`${this.#path}/memory.events`, 'oom_kill')
    const isOwn = kills > 0 && numberIn(`${this.#path}/memory.events.local`, 'oom') > 0
    const memoryPeakBytes = this.#peak()
    const { memory } = this.#limits
    const lacking =
      isOwn && memory !== undefined
        ? `it needed more memory than its limit of ${memory.bytes} bytes (${memory.from}); it had at most ${memoryPeakBytes ?? 'an unknown number of'} bytes`
        : undefined
    const exceededMemory = lacking !== undefined
    const excess = lacking ?? this.exceeded()
    return { memoryPeakBytes, excess, exceededMemory, lackedMemory: kills > 0 && !exceededMemory }
  }

  /** Of Linux 5.19 and later. */
  #peak(): number | undefined {
    try {
      return Number(readFileSync(`${this.#path}/memory.peak`, 'latin1'))
    } catch {
      return undefined
    }
  }
}
