import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Config } from '../../src/config/config.js'
import { loadConfig } from '../../src/config/load.js'
import { diskFindings } from '../../src/doctor/disk-room.js'
import { examineMachine, startFindings } from '../../src/doctor/doctor.js'
import type { Finding } from '../../src/doctor/finding.js'
import { clockFindings } from '../../src/doctor/machine.js'
import { silentLog } from '../../src/log/log.js'
import { unhiddenSecrets } from '../../src/log/secrets.js'
import { digestOf, put } from '../store/blobs.js'
import { ContractDouble } from '../store/double.js'
import { openBehind } from '../store/kinds/fast_slow/behind.js'

const DISK = { max_bytes: '1mb' }

interface Parts {
  readonly stores?: object
  readonly listener?: object
  readonly services?: object
  readonly top?: object
}

const configOf = (t: Test, parts: Parts): Promise<Config> => {
  const folder = mkdtempSync(join(tmpdir(), 'doctor-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const { stores = { S: fileStore(folder) }, listener = {}, services = {}, top = {} } = parts
  const server = {
    listener: { http: { socket_address: '127.0.0.1:0', ...listener } },
    services: { cas: [{ cas_store: 'S' }], ...services },
  }
  const path = join(folder, 'config.json')
  writeFileSync(path, JSON.stringify({ stores, servers: { public: server }, ...top }))
  return loadConfig(path)
}

const fileStore = (folder: string, options: object = {}) => ({
  filesystem: {
    content_path: join(folder, 'content'),
    temp_path: join(folder, 'temp'),
    eviction_policy: DISK,
    ...options,
  },
})

const examine = async (t: Test, parts: Parts): Promise<readonly Finding[]> =>
  examineMachine(await configOf(t, parts), { log: silentLog, secrets: unhiddenSecrets })

const about = (findings: readonly Finding[], subject: string): readonly Finding[] =>
  findings.filter((finding) => finding.subject === subject && finding.level !== 'ok')

t.test('a machine that fits has no errors', async (t) => {
  const findings = await examine(t, {})
  t.same(
    findings.filter(({ level }) => level === 'error'),
    [],
  )
  t.match(findings.find(({ subject }) => subject === 'server public')?.message, 'can listen on 127.0.0.1:0')
})

t.test('folders that cannot be written', async (t) => {
  const folder = t.testdir({ file: 'text', other: 'text' })
  const findings = await examine(t, {
    stores: { S: fileStore(join(folder, 'file')), T: fileStore(folder, { content_path: join(folder, 'other') }) },
  })
  t.match(about(findings, 'store S'), [{ level: 'error', message: /a file is where a directory is expected/ }, {}])
  t.match(about(findings, 'store T'), [{ level: 'error', message: /content_path: .*other is a file/ }])
})

t.test('content_path and temp_path on two file systems; data in memory', async (t) => {
  const findings = await examine(t, {
    stores: { S: fileStore(t.testdir(), { temp_path: '/dev/shm' }), T: fileStore('/dev/shm/remexec-doctor') },
  })
  t.match(about(findings, 'store S'), [{ level: 'error', message: /on different file systems/ }])
  t.match(about(findings, 'store T'), [{ level: 'warning', message: /is on tmpfs: it is memory/ }])
})

t.test('uploads of a fast_slow that is no longer configured', async (t) => {
  const folder = t.testdir()
  const slowStore = new ContractDouble()
  slowStore.hangs = 'put'
  const { store, close } = await openBehind({ folder, slow: slowStore })
  const bytes = Buffer.alloc(1000)
  await put(store, digestOf(bytes), bytes)
  await close()
  const stores = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, fileStore(folder)]))
  const left = { level: 'warning', message: /^1 acknowledged upload of 1 kB in .* will never reach a slow store/ }
  const removed = await configOf(t, { stores: stores('S') })
  t.match(about(await examineMachine(removed, { log: silentLog, secrets: unhiddenSecrets }), 'store S'), [left])
  t.match(about(await startFindings(removed), 'store S'), [left], 'also told at start')
  const slow = { noop: {} }
  for (const [fast, more] of [
    [fileStore(folder), {}],
    [{ ref_store: { name: 'F' } }, stores('F')],
  ]) {
    const kept = await configOf(t, { stores: { S: { fast_slow: { fast, slow } }, ...more } })
    t.same(
      (await startFindings(kept)).filter(({ message }) => message.includes('acknowledged upload')),
      [],
    )
  }
})

t.test('the folder of the audit log and the hints file of a scheduler', async (t) => {
  const folder = t.testdir({ file: 'text', hints: '{}' })
  const auditOf = (path: string) => ({
    security: { identity: { tokens: [{ name: 'ann', sha256: 'a'.repeat(64) }] }, audit_log: { path } },
  })
  const examined = async (path: string) => about(await examine(t, { top: auditOf(path) }), 'audit log')
  t.same(await examined(join(folder, 'audit.log')), [])
  t.same(await examined(join(folder, 'file')), [])
  t.match(await examined(folder), [{ level: 'error', message: /is a folder/ }])
  const absent = join(folder, 'absent')
  const advice = `mkdir -p ${absent}`
  t.match(await examined(join(absent, 'audit.log')), [{ level: 'error', message: `${absent} does not exist`, advice }])

  const withHints = (hints_file: string) => ({
    schedulers: {
      MAIN: {
        property_modifier: {
          modifications: [],
          scheduler: { historical_resource: { hints_file, scheduler: { simple: {} } } },
        },
      },
    },
  })
  const hints = join(folder, 'no-hints.json')
  t.match(about(await examine(t, { top: withHints(hints) }), `file ${hints}`), [{ level: 'error' }])
  t.same(about(await examine(t, { top: withHints(join(folder, 'hints')) }), `file ${join(folder, 'hints')}`), [])
})

t.test('limits are compared with the disk, all stores of a disk together', async (t) => {
  const folder = t.testdir()
  const of = async (...limits: readonly unknown[]) => {
    const stores = limits.map((max_bytes, at) => [
      `S${at === 0 ? '' : at}`,
      fileStore(join(folder, `${at}`), { eviction_policy: { max_bytes } }),
    ])
    return diskFindings(await configOf(t, { stores: Object.fromEntries(stores) }))
  }
  t.match(await of('1mb'), [{ level: 'ok' }])
  t.match(await of('1mb', '900tb'), [
    { level: 'warning', subject: 'disk of S, S1', message: /may keep 900 TB, more than/ },
  ])
  t.match(await of('1mb', 0), [{ level: 'warning', message: /S1: without max_bytes/ }])
})

t.test('limits of memory stores are compared with the machine', async (t) => {
  const memory = (max_bytes: unknown) => ({ S: { memory: { eviction_policy: { max_bytes } } } })
  const of = async (maxBytes: unknown) => startFindings(await configOf(t, { stores: memory(maxBytes) }))
  t.same(await of('10mb'), [])
  t.match(await of('1000gb'), [{ level: 'warning', subject: 'memory of S', message: /may keep 1 TB, but/ }])
  t.match(await of(0), [{ level: 'warning', message: /without max_bytes/ }])
})

t.test('ports in use, and what is open to the network', async (t) => {
  const taken = createServer()
  const port = await new Promise<number>((resolve) => {
    taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port))
  })
  t.teardown(() => taken.close())
  const inUse = await examine(t, { listener: { socket_address: `127.0.0.1:${port}` } })
  t.match(about(inUse, 'server public'), [{ level: 'warning', message: /something listens on/ }])
  const open = await examine(t, { listener: { socket_address: ':0' } })
  t.match(about(open, 'server public'), [{ level: 'warning', message: /may write results, fill the store$/ }])
  const secured = { security: { access: [{ anonymous: true, may: ['read_cas'] }] } }
  t.same(about(await examine(t, { listener: { socket_address: ':0' }, top: secured }), 'server public'), [])
})

t.test('files that are missing, or readable for everybody', async (t) => {
  const folder = t.testdir({ tokens: '' })
  const tokens = join(folder, 'tokens')
  chmodSync(tokens, 0o644)
  const findings = await examine(t, {
    listener: { tls: { cert_file: join(folder, 'none.pem'), key_file: join(folder, 'none.key') } },
    top: { security: { identity: { tokens_file: tokens } } },
  })
  t.match(about(findings, `file ${tokens}`), [{ level: 'warning', advice: `chmod 640 ${tokens}` }])
  t.match(about(findings, `file ${join(folder, 'none.key')}`), [{ level: 'error', message: /no such file/ }])
})

t.test('backends that do not answer', async (t) => {
  const slow = { grpc: { instance_name: '', endpoints: [{ address: 'grpc://127.0.0.1:1' }], store_type: 'cas' } }
  const stores = { S: { fast_slow: { fast: { memory: {} }, slow } } }
  const findings = await examine(t, { stores })
  t.match(about(findings, 'backend of store S/slow'), [{ level: 'error', message: /ECONNREFUSED/ }])
})

t.test('a clock before the release of the program', async (t) => {
  t.match(clockFindings(0), [{ level: 'warning', message: 'it is 1970-01-01T00:00:00.000Z' }])
})
