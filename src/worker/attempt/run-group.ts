import { StatusError } from '../../base/status-error.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import type { Call } from '../../rpc/call.js'
import type { ActionGroup, GroupLimits, MemoryLimit } from '../cgroup/action-group.js'
import type { ControlGroups } from '../cgroup/groups.js'
import { Gate } from '../command/gate.js'
import type { Launcher } from '../command/launcher.js'
import type { Libc } from '../command/libc.js'
import { type CommandExit, type CommandRun, runCommand } from '../command/run-command.js'
import type { ActionLimits } from '../limit/limits.js'

/** The properties by which actions say how much they need; empty for none. */
export interface ResourceProperties {
  /** In KiB. */
  readonly memory: string
  /** In processors. */
  readonly cpu: string
}

export interface Grouping {
  readonly groups: ControlGroups
  readonly libc: Libc
  readonly names: ResourceProperties
}

const KIB = 1024
/** `cpu.weight` of the kernel. */
const MOST_WEIGHT = 10_000
const WEIGHT = 100

/** The largest amount that an action asks for by a property; undefined if it asks for none. */
const amountOf = (properties: readonly PlatformProperty[], wanted: string): number | undefined => {
  const amounts = properties.filter(({ name, value }) => name === wanted && /^\d{1,15}$/.test(value))
  const most = Math.max(0, ...amounts.map(({ value }) => Number(value)))
  return most > 0 ? most : undefined
}

/** The limits of a command: those of the worker, and the amounts that the action asks for. */
export const groupLimits = (
  properties: readonly PlatformProperty[],
  { memoryBytes, processes }: Pick<ActionLimits, 'memoryBytes' | 'processes'>,
  names: ResourceProperties,
): GroupLimits => {
  const memoryKb = amountOf(properties, names.memory)
  const found: MemoryLimit[] = []
  if (memoryKb !== undefined) found.push({ bytes: memoryKb * KIB, from: `${names.memory} of the action` })
  if (memoryBytes > 0) found.push({ bytes: memoryBytes, from: 'memory_bytes of action_limits of the worker' })
  const [memory] = found.sort((a, b) => a.bytes - b.bytes)
  const cpus = amountOf(properties, names.cpu) ?? 1
  return { memory, processes, cpuWeight: Math.min(MOST_WEIGHT, WEIGHT * cpus) }
}

/** The control group of one command, from before its start until nothing of it is left. */
export class RunGroup {
  readonly #group: ActionGroup
  readonly #gate: Gate | undefined
  readonly #limits: GroupLimits

  private constructor(group: ActionGroup, gate: Gate | undefined, limits: GroupLimits) {
    this.#group = group
    this.#gate = gate
    this.#limits = limits
  }

  /** `isConfined`: the command waits behind a gate until it is in the group. */
  static begin({ groups, libc }: Grouping, limits: GroupLimits, isConfined: boolean): RunGroup {
    const gate = isConfined ? Gate.make(libc) : undefined
    try {
      return new RunGroup(groups.begin(limits), gate, limits)
    } catch (error) {
      gate?.close()
      throw error
    }
  }

  get isGated(): boolean {
    return this.#gate !== undefined
  }

  /** The descriptor that the sandbox waits for. */
  get gate(): number | undefined {
    return this.#gate?.fd
  }

  started(pid: number): void {
    this.#group.admit(pid)
    this.#gate?.open()
    this.#gate?.close()
  }

  exceeded(): string | undefined {
    return this.#group.exceeded()
  }

  kill(): void {
    this.#group.kill()
  }

  /** Ends what is left, and returns what the kernel says of it. Call it once. */
  async end(call: Call): Promise<(exit: CommandExit) => CommandExit> {
    this.#gate?.close()
    const { memoryPeakBytes: peakBytes, excess, exceededMemory, lackedMemory, isLeft } = await this.#group.end()
    if (isLeft) call.log.warn('processes of an action do not end', { expected: 'disks that answer' })
    const memory = { peakBytes, limitBytes: this.#limits.memory?.bytes, isExceeded: exceededMemory }
    const reason = excess ?? (lackedMemory ? 'its machine ran out of memory' : undefined)
    return (exit) => {
      const isEnded = exit.end === 'exited' && reason !== undefined
      return isEnded ? { ...exit, memory, end: 'exceeded', excess: reason } : { ...exit, memory }
    }
  }
}

/** Like `runCommand`, in a group if there is one. Ends the group. */
export const runInGroup = async (
  group: RunGroup | undefined,
  run: CommandRun,
  launcher: Launcher,
  call: Call,
): Promise<CommandExit> => {
  if (group === undefined) return runCommand(run, launcher)
  let failure: unknown
  const grouped: CommandRun = {
    ...run,
    confined: run.confined && { ...run.confined, gate: group.gate },
    killAll: () => group.kill(),
    onStart: (pid, exceed) => {
      try {
        group.started(pid)
      } catch (error) {
        failure = error
        exceed('')
      }
      run.onStart?.(pid, exceed)
    },
  }
  const ended = await runCommand(grouped, launcher).catch(async (error: unknown) => {
    await group.end(call)
    throw error
  })
  const told = await group.end(call)
  if (failure === undefined) return told(ended)
  throw new StatusError('UNAVAILABLE', 'a command could not enter its control group', { cause: failure })
}
