import t from 'tap'
import { buildAction, Reader, serveExecution } from '../service/execution-harness.js'

t.test('a worker is not lost because its scheduler was held up', async (t) => {
  const server = await serveExecution(t, { settings: { workerTimeoutMs: 5000 } })
  const worker = await server.worker()
  server.clock.holdUp(60_000)
  const operation = new Reader(server.execute(await server.upload(buildAction())))
  await operation.next()
  worker.succeed(await worker.start())
  t.ok((await operation.until(({ done }) => done)).done)
})
