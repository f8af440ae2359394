import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { DEFAULT, type Program, program, serve, start } from './program.js'

const listening = async (): Promise<{ readonly port: string; readonly close: () => void }> => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not a TCP address')
  return { port: String(address.port), close: () => server.close() }
}

interface Failure {
  readonly what: string
  /** Makes the machine unfit below `data`. Returns the configuration of the server. */
  readonly prepare: (data: string) => { readonly env?: NodeJS.ProcessEnv; readonly uid?: number } | undefined
  readonly told: (data: string) => readonly (string | RegExp)[]
}

const isRoot = process.getuid?.() === 0
/** If tests run as root, other files of root count as those of another user. */
const NOBODY = 65_534

const failures: readonly Failure[] = [
  {
    what: 'a data folder of another user',
    prepare: (data) => {
      mkdirSync(`${data}/cas`)
      chmodSync(`${data}/cas`, isRoot ? 0o700 : 0o000)
      return isRoot ? { uid: NOBODY } : undefined
    },
    told: (data) => ['store CAS/fast', `${data}/cas/content`, 'permission denied (EACCES)', /give .* the right/],
  },
  {
    what: 'a content_path that is a file',
    prepare: (data) => {
      mkdirSync(`${data}/cas`)
      writeFileSync(`${data}/cas/content`, '')
      return undefined
    },
    told: (data) => [
      'store CAS/fast: cannot make the directory',
      `${data}/cas/content while it makes its folders: a file is in its place (EEXIST)`,
      /move that file away/,
    ],
  },
  {
    what: 'a file where the records belong',
    prepare: (data) => {
      mkdirSync(`${data}/cas/content`, { recursive: true })
      writeFileSync(`${data}/cas/content/records`, '')
      return undefined
    },
    told: (data) => [
      'store CAS/fast: cannot make the directory',
      `${data}/cas/content/records while it opens its records: a file is in its place (EEXIST)`,
      /move that file away/,
    ],
  },
  {
    what: 'a temp_path with a directory that looks like an upload',
    prepare: (data) => {
      const content = `${data}/cas/content`
      const prefix = createHash('sha256').update(content).digest('hex').slice(0, 12)
      mkdirSync(content, { recursive: true })
      mkdirSync(`${data}/cas/temp/${prefix}-1`, { recursive: true })
      return undefined
    },
    told: (data) => [
      `store CAS/fast: cannot remove ${data}/cas/temp/`,
      'while it deletes incomplete uploads in temp_path: it is a directory (EISDIR); move that directory away',
    ],
  },
  {
    what: 'an index that is a directory',
    prepare: (data) => {
      mkdirSync(`${data}/cas/content/index`, { recursive: true })
      return undefined
    },
    told: (data) => [
      'store CAS/fast',
      `${data}/cas/content/index`,
      'is a directory, expected the checkpoint',
      /move it away/,
    ],
  },
  {
    what: 'a work_directory that is a file',
    prepare: (data) => {
      writeFileSync(`${data}/work`, '')
      return undefined
    },
    told: (data) => ['worker worker_0', `${data}/work`, 'a file is in its place (EEXIST)', /move that file away/],
  },
  {
    what: 'a home that is no directory',
    prepare: () => ({ env: { HOME: '/etc/passwd', REMEXEC_DATA: '~/data' } }),
    told: () => ['store CAS/fast', '/etc/passwd/data/cas/content', 'a file is where a directory is expected (ENOTDIR)'],
  },
]

for (const { what, prepare, told } of failures) {
  t.test(`${what} is reported with its path, the reason and a remedy`, async (t) => {
    const data = t.testdir()
    const { env, uid } = prepare(data) ?? {}
    const server = serve(t, DEFAULT, data, env, uid === undefined ? {} : { uid })
    t.equal((await server.ended).code, 1)
    const said = server.said()
    for (const words of told(data)) t.match(said, words)
    t.notMatch(said, /internal error|Error:|^ +at |\.js:\d/m, 'nothing of the inside')
    t.equal(said.split('\n').filter((line) => line.startsWith('remexec: ')).length, 1, 'in one line')
  })
}

const FORBID = 'echo 0 > /proc/sys/user/max_user_namespaces'
const canNest = (): boolean => {
  try {
    execFileSync('unshare', ['-Ur', 'sh', '-c', `${FORBID}; cat /proc/sys/user/max_user_namespaces`])
    return existsSync('/usr/bin/bwrap')
  } catch {
    return false
  }
}
const notNested = !canNest() && 'needs bubblewrap, and user namespaces to forbid them in'

t.test('a worker that needs namespaces does not start if the kernel forbids them', { skip: notNested }, async (t) => {
  const config = readFileSync(DEFAULT, 'utf8').replace('work_directory:', 'use_namespaces: true, work_directory:')
  t.match(config, /use_namespaces/)
  const data = t.testdir({ 'c.json5': config, data: {} })
  const env = { ...process.env, REMEXEC_DATA: `${data}/data`, REMEXEC_PORT: '0', REMEXEC_WORKER_PORT: '0' }
  const command = ['unshare', '-Ur', 'sh', '-c', `${FORBID} && exec "$@"`, '-', process.execPath, program]
  const server = start(t, [...command, `${data}/c.json5`], { env })
  t.equal((await server.ended).code, 1)
  t.match(
    server.said(),
    /worker worker_0: use_namespaces does not work on this machine: bwrap: .*; let this user make user/,
  )
})

/** A server that has so many service threads, under a limit of prlimit. */
const limited = (t: Test, { threads, limit, uid }: { threads: number; limit: string; uid?: number }): Program => {
  const data = t.testdir()
  chmodSync(data, 0o777)
  const filesystem = (name: string): object => ({
    filesystem: {
      content_path: `${data}/${name}`,
      temp_path: `${data}/temp-${name}`,
      eviction_policy: { max_bytes: 1e6 },
    },
  })
  const config = {
    global: { threads },
    stores: { CAS: filesystem('cas'), AC: filesystem('ac') },
    // Threads serve all of it: without something to serve none would start.
    servers: [
      {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }] },
      },
    ],
  }
  writeFileSync(`${data}/config.json`, JSON.stringify(config))
  const command = ['prlimit', limit, process.execPath, program, `${data}/config.json`]
  return start(t, command, uid === undefined ? {} : { uid })
}

t.test(
  'more service threads than the user may have are refused: how many there are, and a remedy',
  // The limit counts the threads of a user, and not those of root.
  { skip: isRoot ? false : 'needs root, to be a user without other processes' },
  async (t) => {
    const server = limited(t, { threads: 64, limit: '--nproc=24', uid: 54_322 })
    t.equal((await server.ended).code, 1)
    t.match(
      server.said(),
      /^remexec: cannot serve: service thread \d+ of 64 cannot start: the system gives no more threads \(EAGAIN\); lower global.threads, or /m,
    )
    t.notMatch(server.said(), /Error:|^ +at /m)
  },
)

t.test('more service threads than there is memory for are refused: how many there are, and a remedy', async (t) => {
  const server = limited(t, { threads: 16, limit: `--as=${100e9}` })
  t.equal((await server.ended).code, 1)
  t.match(
    server.said(),
    /^remexec: cannot serve: service thread \d+ of 16 cannot start: the system gives no more memory \(.+\); lower global.threads, or /m,
  )
  t.notMatch(server.said(), /^ +at /m)
})

t.test('a port in use is reported with the address and a remedy', async (t) => {
  const { port, close } = await listening()
  t.teardown(close)
  const server = serve(t, DEFAULT, t.testdir(), { REMEXEC_PORT: port })
  t.equal((await server.ended).code, 1)
  t.match(
    server.said(),
    new RegExp(
      `^remexec: cannot serve: cannot listen on 127.0.0.1:${port}: the address is in use \\(EADDRINUSE\\); .*another port`,
      'm',
    ),
  )
  t.notMatch(server.said(), /internal error|Error:|^ +at /m)
})

t.test('/etc/passwd as a work_directory is refused without touching it', async (t) => {
  const data = t.testdir()
  const config = `{
    stores: { CAS: { fast_slow: {
      fast: { filesystem: { content_path: '${data}/c', temp_path: '${data}/t', eviction_policy: { max_bytes: 1000 } } },
      slow: { noop: {} },
    } } },
    workers: [{ worker: { scheduler_endpoint: 'grpc://127.0.0.1:9', cas_fast_slow_store: 'CAS', work_directory: '/etc/passwd' } }],
    servers: [],
  }`
  writeFileSync(`${data}/config.json5`, config)
  const server = serve(t, `${data}/config.json5`, data)
  t.equal((await server.ended).code, 1)
  t.match(server.said(), /worker worker_0: .*\/etc\/passwd" cannot be used: a file is in its place \(EEXIST\); /)
  t.notMatch(server.said(), /internal error|Error:|^ +at /m)
})

t.test(
  'a user without a home directory gets the advice to set HOME',
  { skip: isRoot ? false : 'needs root, to be nobody' },
  async (t) => {
    const data = t.testdir()
    chmodSync(data, 0o777)
    const server = serve(t, DEFAULT, data, { HOME: undefined, REMEXEC_DATA: undefined }, { uid: 54_321 })
    t.equal((await server.ended).code, 1)
    t.match(server.said(), /there is no home directory for ~: set HOME/)
    t.notMatch(server.said(), /internal error|SystemError|^ +at /m)
  },
)
