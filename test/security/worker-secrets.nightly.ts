// For changes in: src/process, src/log, src/worker/process, src/assembly/workers.ts, src/assembly/worker-process.ts
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { hashOf } from '../../src/security/identity/credential.js'
import { start } from '../cli/program.js'

// Nightly, because server and worker are compiled at each start.

t.setTimeout(170_000)

/** A preload that makes a worker process record what it received, and then fail with it. */
const failingWorker = (folder: string): string => `
import { writeFileSync } from 'node:fs'
if (process.send !== undefined) {
  const learn = (told) => {
    if (told.kind !== 'start') return
    const { token, storeKey } = told
    process.on('SIGUSR2', () => {
      const fields = { token, config: told }
      throw Object.assign(new Error('no answer to ' + token + ', ' + storeKey + ', ' + process.env.MY_TOKEN), fields)
    })
    const message = 'a library repeats ' + token + ', ' + storeKey
    process.send({ kind: 'log', level: 'warn', message, fields: { error: { request: storeKey } } })
    writeFileSync('${folder}/told.json', JSON.stringify({ pid: process.pid, secrets: [token, storeKey] }))
  }
  // Listens at the same time as the worker, because an early message has no other listener.
  let hears = false
  process.on('newListener', (name) => {
    if (name !== 'message' || hears) return
    hears = true
    process.on('message', learn)
  })
}`

t.test('a worker process that ends by an unexpected error reports no secrets and is restarted', async (t) => {
  // A worker's process inherits the options of Node only from a server that runs from source.
  const folder = t.testdir()
  const files = { filesystem: { content_path: `${folder}/files`, temp_path: `${folder}/temp` } }
  const config = {
    stores: { CAS: { fast_slow: { fast: files, slow: { noop: {} } } } },
    schedulers: { MAIN: { simple: {} } },
    workers: [
      {
        local: {
          worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' },
          cas_fast_slow_store: 'CAS',
          work_directory: `${folder}/work`,
        },
      },
    ],
    servers: [
      {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: { cas: [{ cas_store: 'CAS' }], execution: [{ cas_store: 'CAS', scheduler: 'MAIN' }] },
      },
    ],
    security: { identity: { tokens: [{ name: 'a', sha256: hashOf('a') }] } },
  }
  writeFileSync(`${folder}/config.json5`, JSON.stringify(config))
  writeFileSync(`${folder}/fail.mjs`, failingWorker(folder))
  const env = { ...process.env, MY_TOKEN: 'sesame-of-the-environment', REMEXEC_LOG_LEVEL: 'debug' }
  const args = ['--import', 'tsx', '--import', `${folder}/fail.mjs`, 'src/cli.ts', `${folder}/config.json5`]
  const program = start(t, [process.execPath, ...args], { env })
  await program.hears(/connected to the scheduler/)
  const { pid, secrets } = JSON.parse(readFileSync(`${folder}/told.json`, 'utf8'))
  t.ok(pid > 0 && pid !== program.child.pid)
  process.kill(pid, 'SIGUSR2')
  await program.hears(/the process of a worker ended and is started again.*exit code 1/)
  await program.hears(/ended by an uncaught error: Error: no answer to/)
  await program.hears(/is started again[\s\S]*connected to the scheduler/)
  t.match(program.said(), /no answer to \*\*\*, \*\*\*, \*\*\*/)
  t.equal(program.said().match(/a library repeats rmx_\*\*\*, \*\*\*/g)?.length, 2, 'in lines of both processes')
  t.equal(secrets.filter((secret: unknown) => typeof secret === 'string' && secret.length >= 32).length, 2)
  for (const secret of [...secrets, 'sesame-of-the-environment']) t.notOk(program.said().includes(secret), secret)
})
