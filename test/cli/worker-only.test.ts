import t from 'tap'
import { serve } from './program.js'

const scheduler = `{
  stores: { CAS: { memory: { eviction_policy: { max_bytes: '10mb' } } } },
  schedulers: { S: { simple: {} } },
  servers: [{ name: 'all', listener: { http: { socket_address: '127.0.0.1:0' } }, services: {
    cas: [{ instance_name: '*', cas_store: 'CAS' }],
    execution: [{ instance_name: '*', cas_store: 'CAS', scheduler: 'S' }],
    worker_api: { scheduler: 'S' },
  } }],
}`

const worker = (form: string) => `{
  stores: { CAS: { fast_slow: {
    fast: { filesystem: { content_path: '$REMEXEC_DATA/c', temp_path: '$REMEXEC_DATA/t', eviction_policy: { max_bytes: '10mb' } } },
    slow: { noop: {} },
  } } },
  workers: [{ ${form} }],
  servers: [],
}`

const common = `cas_fast_slow_store: 'CAS', work_directory: '$REMEXEC_DATA/w'`
const forms = {
  local: `local: { worker_api_endpoint: { uri: 'grpc://$SCHEDULER' }, ${common} }`,
  worker: `worker: { scheduler_endpoint: 'grpc://$SCHEDULER', ${common} }`,
}

t.test('a process with only workers connects to a scheduler on the same machine by any of its addresses', async (t) => {
  const data = t.testdir({
    's.json5': scheduler,
    'local.json5': worker(forms.local),
    'worker.json5': worker(forms.worker),
    s: {},
    a: {},
    b: {},
    c: {},
  })
  const server = serve(t, `${data}/s.json5`, `${data}/s`)
  const [, port] = await server.hears(/serving grpc:\/\/127\.0\.0\.1:(\d+)/)
  for (const [folder, host, form] of [
    ['a', '127.0.0.1', 'local'],
    ['b', 'localhost', 'local'],
    ['c', '127.0.0.1', 'worker'],
  ]) {
    const { child, hears, ended, said } = serve(t, `${data}/${form}.json5`, `${data}/${folder}`, {
      SCHEDULER: `${host}:${port}`,
    })
    await hears(/connected to the scheduler/)
    t.notMatch(said(), /warning/, 'a process without servers is nothing to warn about when it has workers')
    child.kill('SIGTERM')
    t.equal((await ended).code, 143, `${host}, ${form}`)
  }
  t.match(server.said(), /a worker connected.*\n(.*\n)*.*a worker connected/)
})
