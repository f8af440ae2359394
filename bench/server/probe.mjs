// Loaded into a server by `node --import`, never a part of it: tells the bench on the IPC channel what only the process
// itself can know. Costs a timer every 10 ms, in every server that is compared.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const RESOLUTION_MS = 10
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
delay.enable()

// The histogram holds the time from one tick of the timer to the next: what is above its period is delay.
const milliseconds = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)

const collect = () => {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

process.on('message', ({ id, isCollecting }) => {
  if (isCollecting) collect()
  const { user, system } = process.cpuUsage()
  const p99Ms = milliseconds(delay.percentile(99))
  const maxMs = milliseconds(delay.max)
  delay.reset()
  process.send?.({ id, cpuMicros: user + system, loopDelay: { p99Ms, maxMs } })
})
// The channel alone does not keep a server that has stopped alive.
process.channel?.unref()
