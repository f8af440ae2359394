import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { StatusError } from '../../../src/base/status-error.js'
import { silentLog } from '../../../src/log/log.js'
import { engineOf } from '../../../src/scheduler/elected/engines.js'
import { Spread } from '../../../src/scheduler/elected/spread.js'
import { Resources } from '../../../src/work/resources.js'
import { DEFAULTS } from '../../store/kinds/experimental_cloud_object_store/open.js'
import { freePorts } from '../../store/remote/backend.js'
import { s3Options } from './engines.js'

/** A server of S3 that answers like this to writes with conditions. */
const startHeedless = async (t: Test, answer: (isConditional: boolean) => number): Promise<number> => {
  let writes = 0
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const isConditional = request.headers['if-match'] !== undefined || request.headers['if-none-match'] !== undefined
      const status = request.method === 'PUT' ? answer(isConditional) : 204
      const error = '<?xml version="1.0"?><Error><Code>NotImplemented</Code></Error>'
      response.writeHead(status, { etag: `"${++writes}"` }).end(status === 501 ? error : undefined)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise((resolve) => server.close(resolve)))
  return (server.address() as AddressInfo).port
}

const open = async (t: Test, port: number) => {
  const resources = new Resources(silentLog)
  t.teardown(() => resources.close())
  const clock = new ManualClock()
  const results = { find: async () => undefined, keep: async (_: unknown, response: never) => response }
  const options = { experimental_backend: { object: { object_store: 'LOCKS' } } }
  return engineOf(options as Parameters<typeof engineOf>[0], {
    ...{
      name: 'MAIN',
      clock,
      log: silentLog,
      resources,
      results,
      newId: () => 'a',
      spread: new Spread(),
      watch: () => {},
    },
    child: () => Promise.reject(new Error('there is none behind')),
    storeConfig: () => ({
      kind: 'experimental_cloud_object_store',
      options: { ...DEFAULTS, key_prefix: 'p/', ...s3Options(port, 'builds') },
    }),
  })
}

for (const [what, status] of [
  ['writes whatever the condition is', 200],
  ['does not know conditions', 501],
] as const) {
  t.test(`a server that ${what} cannot keep two servers from leading, so this one does not start`, async (t) => {
    const port = await startHeedless(t, (isConditional) => (isConditional ? status : 200))
    const failed = await open(t, port).then(
      () => undefined,
      (error: unknown) => StatusError.from(error),
    )
    t.match(failed, { message: /aws bucket builds writes an object although its condition does not hold.*expected/ })
  })
}

t.test('a bucket that cannot be reached yet keeps no server from starting', async (t) => {
  const [port = 0] = await freePorts(1)
  const engine = await open(t, port)
  t.teardown(() => engine.close())
  t.match(engine.name, /p\/remexec\/MAIN\/lease of aws bucket builds/)
})
