import { Client, credentials } from '@grpc/grpc-js'
import { codec } from '../../src/proto/codec.js'
import { serviceDefinition } from '../../src/proto/service-definition.js'

// A worker that does nothing: it says of every action at once that it succeeded without outputs. What is left is the way
// of an action through Execute, the scheduler and the worker API. Run with the address of a worker API; prints `ready`.

const [, , address = ''] = process.argv
const [connect] = serviceDefinition('remexec.worker.v1.WorkerApi').methods
if (connect === undefined) throw new Error('protos/ has no remexec.worker.v1.WorkerApi')
const toScheduler = codec('remexec.worker.v1.WorkerMessage')
const fromScheduler = codec('remexec.worker.v1.SchedulerMessage')
const PLACES = 1000

const client = new Client(address, credentials.createInsecure())
const stream = client.makeBidiStreamRequest(
  connect.path,
  (message: Parameters<typeof toScheduler.encode>[0]) => toScheduler.encode(message),
  (bytes) => fromScheduler.decode(bytes),
)
stream.on('data', ({ welcome, start }: ReturnType<typeof fromScheduler.decode>) => {
  if (welcome !== null) {
    setInterval(() => stream.write({ keepAlive: {} }), Math.max(20, welcome.keepAliveIntervalMs / 2)).unref()
    process.stdout.write('ready\n')
  }
  if (start === null) return
  const executeResponse = { result: { exitCode: 0, executionMetadata: { worker: 'idle' } } }
  stream.write({ result: { attemptId: start.attemptId, executeResponse } })
})
stream.on('error', (error) => {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
})
stream.on('status', () => process.exit())
stream.write({ hello: { protocolVersion: 1, name: 'idle', maxInflightAttempts: PLACES } })
