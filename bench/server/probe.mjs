// Loaded into a server by `node --import`, never a part of it: tells the bench on the IPC channel what only the process
// itself can know. Costs a timer every 10 ms, in every server that is compared.
import { monitorEventLoopDelay } from 'node:perf_hooks'

const RESOLUTION_MS = 10
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
delay.enable()

// The histogram holds the time from one tick of the timer to the next: what is above its period is delay.
const milliseconds = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)

process.on('message', (id) => {
  const { user, system } = process.cpuUsage()
  const p99Ms = milliseconds(delay.percentile(99))
  const maxMs = milliseconds(delay.max)
  delay.reset()
  process.send?.({ id, cpuMicros: user + system, loopDelay: { p99Ms, maxMs } })
})
// The channel alone does not keep a server that has stopped alive.
process.channel?.unref()
