import { readdirSync } from 'node:fs'
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { errnoOf } from '../base/errno.js'
import { memoryUsage } from '../base/memory-usage.js'
import { type Instrument, observed, type Reading } from './instrument.js'

/** Period of a timer; its delay shows how long the event loop was busy. */
const RESOLUTION_MS = 20

/** Resources of the process, to detect a shortage before clients notice it. */
export class ProcessMetrics {
  readonly instruments: readonly Instrument[]
  readonly #delay: IntervalHistogram

  constructor() {
    this.#delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    this.#delay.enable()
    this.instruments = [
      observed('gauge', describe('svc_event_loop_delay', 'Delay of the event loop since the last reading.', 's'), () =>
        this.#delays(),
      ),
      observed('gauge', describe('svc_process_memory', 'Memory of the process.', 'By'), memory),
      observed(
        'gauge',
        describe('svc_process_open_descriptors', 'Files and sockets that are open.', '{file}'),
        descriptors,
      ),
      observed('counter', describe('svc_process_cpu_time_total', 'Time on processors.', 's'), processorTime),
    ]
  }

  stop(): void {
    this.#delay.disable()
  }

  #delays(): readonly Reading[] {
    const delay = this.#delay
    const late = (ns: number): number => Math.max(0, ns / 1e9 - RESOLUTION_MS / 1000)
    const { p50, p99, max } = { p50: delay.percentile(50), p99: delay.percentile(99), max: delay.max }
    const isEmpty = delay.count === 0
    delay.reset()
    return Object.entries({ p50, p99, max }).map(([delay_quantile, ns]) => ({
      labels: { delay_quantile },
      value: isEmpty ? 0 : late(ns),
    }))
  }
}

const describe = (name: string, description: string, unit: string) => ({ name, description, unit })

const memory = (): readonly Reading[] => {
  const { residentBytes, heapBytes, externalBytes } = memoryUsage()
  return Object.entries({ resident: residentBytes, heap: heapBytes, external: externalBytes }).flatMap(
    ([memory_kind, value]) => (value === undefined ? [] : [{ labels: { memory_kind }, value }]),
  )
}

const descriptors = (): readonly Reading[] => {
  const value = openDescriptors()
  return value === undefined ? [] : [{ labels: {}, value }]
}

/** Undefined if no descriptor is free: to count them takes one. */
export const openDescriptors = (): number | undefined => {
  try {
    return readdirSync('/proc/self/fd').length
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}

const processorTime = (): readonly Reading[] => {
  const { user, system } = process.cpuUsage()
  return Object.entries({ user, system }).map(([cpu_mode, microseconds]) => ({
    labels: { cpu_mode },
    value: microseconds / 1e6,
  }))
}
