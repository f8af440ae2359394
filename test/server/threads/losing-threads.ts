import { writeSync } from 'node:fs'
import { reportCrashes } from '../../../src/process/crash.js'
import type { ThreadChannel } from '../../../src/server/threads/channel.js'
import { ServiceThreads } from '../../../src/server/threads/service-threads.js'

// A process with two service threads. Its argument is what each of them does once both run.

const [, , end] = process.argv
const program = `
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', () => { ${end} })
`
reportCrashes({ write: (text) => writeSync(2, text) })
const channels: ThreadChannel<{ end(): void }>[] = []
const threads = await ServiceThreads.start<object, { end(): void }>({
  count: 2,
  program: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
  data: undefined,
  hear: (thread) => {
    channels.push(thread)
    return {}
  },
})
await threads.started(async () => {})
for (const channel of channels) channel.send('end')
setInterval(() => {}, 1000)
