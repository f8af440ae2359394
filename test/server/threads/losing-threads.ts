import { writeSync } from 'node:fs'
import { reportCrashes } from '../../../src/process/crash.js'
import { ServiceThreads } from '../../../src/server/threads/service-threads.js'

// A process with two service threads. Its argument is what each of them does once both run.

const [, , end] = process.argv
const program = `
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', () => { ${end} })
  parentPort.postMessage('ready')
`
reportCrashes({ write: (text) => writeSync(2, text) })
const threads = await ServiceThreads.start({
  count: 2,
  program: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
  data: undefined,
  onMessage: () => {},
})
await threads.started(Promise.resolve())
threads.tell(() => ({ message: 'end', ports: [] }))
setInterval(() => {}, 1000)
