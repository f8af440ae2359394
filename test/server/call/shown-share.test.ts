import t, { type Test } from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { textLog } from '../../../src/log/log.js'
import { listen } from '../../../src/server/listener.js'
import { TestClient } from '../client.js'

const CAPABILITIES = 'build.bazel.remote.execution.v2.Capabilities'
const CALLS = 400

const serving = async (t: Test, shownShare: number) => {
  const lines: string[] = []
  let counted = 0
  const listener = await listen({
    address: '127.0.0.1:0',
    services: [
      {
        name: CAPABILITIES,
        unary: {
          GetCapabilities: async ({ instanceName }: { instanceName: string }) => {
            if (instanceName === '') return {}
            throw new StatusError(instanceName === 'absent' ? 'NOT_FOUND' : 'INTERNAL', 'no')
          },
        },
      },
    ],
    meters: () => ({ ended: () => (counted += 1) }),
    log: textLog('info', (line) => lines.push(line)),
    shownShare,
  })
  const client = new TestClient(listener.address)
  t.teardown(async () => {
    client.close()
    await listener.close(0)
  })
  const ask = (instanceName = '') => client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName }).response
  return { lines, ask, count: () => counted }
}

t.test('a share of the calls is logged at level info, and all of them are counted', async (t) => {
  const { lines, ask, count } = await serving(t, 0.5)
  for (let call = 0; call < CALLS; call++) await ask()
  t.equal(count(), CALLS)
  t.ok(lines.length > CALLS * 0.3 && lines.length < CALLS * 0.7, `${lines.length} lines, eight standard deviations`)
  for (const line of lines) t.match(line, / info {2}call method=\S+GetCapabilities code=OK .* share=0\.5\n$/)
})

t.test('failures of the server are always logged', async (t) => {
  const { lines, ask, count } = await serving(t, 0)
  await ask()
  await t.rejects(ask('absent'), { code: 5 })
  t.same(lines, [])
  await t.rejects(ask('broken'), { code: 13 })
  t.match(lines, [/ error call failed .*code=INTERNAL/])
  t.equal(count(), 3)
})

t.test('with a share of 1, refused calls are logged with their reason', async (t) => {
  const { lines, ask } = await serving(t, 1)
  await ask()
  await t.rejects(ask('absent'), { code: 5 })
  t.match(lines, [/ info {2}call .*code=OK/, / info {2}call .*code=NOT_FOUND.*reason=no share=1/])
})
