import t from 'tap'
import { noWorkers, setUp, type ToolAction } from './set-up.js'

const secret: ToolAction = { steps: ['keep secret', 'write out kept'] }
const look: ToolAction = { steps: ['kept out'] }

const others: Readonly<Record<string, Partial<ToolAction>>> = {
  'another instance': { request: { instanceName: 'other' } },
  'a pull request': { request: { scope: 'pull-7' } },
  'another key of the client': { key: 'k2' },
  'another protocol with the same key': { protocol: 'json' },
  'another startup line': { startup: ['--fast'] },
  'another variable': { variables: { LANG: 'C' } },
  'another tool with the same key': { tool: '// a new version\n' },
  'another working directory': { workingDirectory: 'd', inputs: { 'd/x': '1', 'd/params.txt': 'kept ../out\n' } },
}

for (const [name, other] of Object.entries(others)) {
  t.test(`what a tool keeps is not seen by ${name}`, { skip: noWorkers }, async (t) => {
    const { runTool, pool } = await setUp(t)
    await runTool(secret)
    const program = name.includes('working') ? { startup: [] } : {}
    const { out, process } = await runTool({ ...look, ...other, ...program })
    if (!name.includes('working')) t.equal(out, '')
    t.not(process.processRequest, 2)
    t.equal(pool.counts.reused, 0)
    const { out: same } = await runTool(look)
    t.equal(same, 'secret', 'the tool does keep it')
  })
}

t.test('actions that cannot have a persistent worker run as they stand', { skip: noWorkers }, async (t) => {
  const { runTool, pool, start, action, store } = await setUp(t)
  const unknown = { name: 'persistentWorkerProtocol', value: 'xml' }
  const asked: ToolAction = { steps: ['write out 1'] }
  const key = { name: 'persistentWorkerKey', value: 'k' }
  const { out, process } = await runTool({ ...asked, request: { properties: [key, unknown] } })
  t.match({ out, process }, { out: '1', process: {} })
  t.equal(pool.counts.fallbacks.unsuited, 1)
  // No params file; no marked input.
  const files = [{ name: 'in', digest: store.keep('x').toMessage() }]
  for (const line of [
    ['/bin/cat', 'in'],
    ['/bin/cat', '@in'],
  ]) {
    const { executeResponse } = await start(action({ arguments: line }, { files }), { properties: [key] })
    t.ok(executeResponse?.result)
  }
  t.equal(pool.counts.fallbacks.unsuited, 3)
  t.equal(pool.counts.started, 0)
  const plain = await runTool({ ...asked, request: { properties: [] } })
  t.match({ out: plain.out, process: plain.process }, { out: '1', process: {} })
  t.equal(pool.counts.fallbacks.unsuited, 3, 'without the property nothing is asked for')
})
