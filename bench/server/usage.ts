import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const MICROS_PER_TICK = 10_000

/** What a server took since `begin`. */
export interface Usage {
  /** User and system time, of children it has waited for too. */
  readonly cpuMicros: number
  readonly peakResidentBytes: number
  /** Undefined where the process is not ours to look into. */
  readonly loopDelay: { readonly p99Ms: number; readonly maxMs: number } | undefined
}

/** One measurement at a time. */
export interface Meter {
  begin(): Promise<void>
  end(): Promise<Usage>
}

const ticksOf = (pid: number): { readonly own: number; readonly children: number } => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number)
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15)
  return { own: user + system, children: childUser + childSystem }
}

/** CPU time of a process and all below it, ended or not, in ticks of 10 ms, from outside. */
export const cpuMicrosOf = (pid: number): number => ticksOf(pid).own * MICROS_PER_TICK + childrenCpuMicrosOf(pid)

export const childrenCpuMicrosOf = (pid: number): number => {
  let micros = ticksOf(pid).children * MICROS_PER_TICK
  for (const child of childrenOf(pid)) micros += unlessEnded(() => cpuMicrosOf(child)) ?? 0
  return micros
}

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const text = unlessEnded(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')) ?? ''
    return text.trim().split(' ').filter(Boolean).map(Number)
  })

/** Processes and threads end while they are looked at. */
const unlessEnded = <T>(look: () => T): T | undefined => {
  try {
    return look()
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined
    throw error
  }
}

const statusKib = (pid: number, field: string): number => {
  const match = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(match?.[1])
}

export const residentBytesOf = (pid: number): number => statusKib(pid, 'VmRSS') * 1024

export const peakResidentBytesOf = (pid: number): number => statusKib(pid, 'VmHWM') * 1024

/** From here on the peak counts anew; the kernel allows it for processes of the same user. */
export const forgetPeakOf = (pid: number): void => {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch (error) {
    // The process of somebody else: its peak is then the one since its start.
    if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) throw error
  }
}

/** Of any process of this machine, as /proc shows it. */
export const meterOf = (pid: number): Meter => {
  let before = 0
  return {
    begin: async () => {
      forgetPeakOf(pid)
      before = cpuMicrosOf(pid)
    },
    end: async () => ({
      cpuMicros: cpuMicrosOf(pid) - before,
      peakResidentBytes: peakResidentBytesOf(pid),
      loopDelay: undefined,
    }),
  }
}

export const NO_USAGE: Usage = { cpuMicros: Number.NaN, peakResidentBytes: Number.NaN, loopDelay: undefined }

const ownCpuMicros = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system + childrenCpuMicrosOf(process.pid)
}

/** This process and what it spawned, for limits that run without a server. Its memory is mostly the bench's own. */
export const ownMeter: Meter = (() => {
  let before = 0
  return {
    begin: async () => {
      before = ownCpuMicros()
    },
    end: async () => ({ ...NO_USAGE, cpuMicros: ownCpuMicros() - before }),
  }
})()

/** Of a server elsewhere nothing can be known. */
export const blindMeter: Meter = { begin: async () => {}, end: async () => NO_USAGE }
