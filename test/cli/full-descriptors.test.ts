import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../until.js'
import { DEFAULT, type Program, program, start } from './program.js'

// A server that has no free descriptor, and one whose periodic tasks fail: neither may end.

/** Makes intervals of the server, which are up to a minute long, tick ten times a second. */
const FAST = `
const every = globalThis.setInterval
globalThis.setInterval = (work, ms, ...args) => every(work, Math.min(ms, 100), ...args)
`

/** At the first SIGUSR2 takes all descriptors and says when every timer has ticked without one; at the second gives them back. */
const FULL = `${FAST}
import { closeSync, openSync, writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
if (isMainThread) {
  let taken = []
  process.on('SIGUSR2', () => {
    if (taken.length > 0) {
      for (const descriptor of taken.splice(0)) closeSync(descriptor)
      writeSync(2, 'descriptors are free\\n')
      return
    }
    const take = () => {
      try { for (;;) taken.push(openSync('/dev/null')) } catch {}
    }
    take()
    let ticks = 0
    const timer = every(() => {
      take()
      if (++ticks < 10) return
      clearInterval(timer)
      writeSync(2, 'every timer has ticked without a descriptor\\n')
    }, 100)
  })
}
`

/** At SIGUSR2 Node reports to every listening server that a connection could not be accepted. */
const UNACCEPTED = `
import { Server } from 'node:net'
const servers = []
const { listen } = Server.prototype
Server.prototype.listen = function (...args) {
  servers.push(this)
  return listen.apply(this, args)
}
process.on('SIGUSR2', () => {
  for (const code of ['EMFILE', 'ENFILE', 'ECONNABORTED'])
    for (const server of servers) server.emit('error', Object.assign(new Error('accept ' + code), { code, syscall: 'accept' }))
})
`

/** At SIGUSR2 every guarded interval of the process throws once, and a task of each thread rejects. */
const BROKEN = `
import { BroadcastChannel, isMainThread } from 'node:worker_threads'
import { writeFileSync } from 'node:fs'
const isWorker = isMainThread && process.send !== undefined
const where = isWorker ? 'a worker process' : isMainThread ? 'the main thread' : 'a service thread'
if (isWorker) writeFileSync(process.env.HOME + '/worker-pid', String(process.pid))
const broken = () => { throw new Error('a tick broke in ' + where) }
const every = globalThis.setInterval
let round = 0
globalThis.setInterval = (work, ms, ...args) => {
  let thrown = 0
  const tick = (guarded, ...others) => {
    const isDue = thrown < round
    thrown = round
    work(isDue && guarded?.work ? { ...guarded, work: broken } : guarded, ...others)
  }
  return every(tick, Math.min(ms, 100), ...args)
}
const begin = () => {
  round += 1
  Promise.reject(new Error('a task broke in ' + where))
}
const channel = new BroadcastChannel('breaks')
channel.onmessage = begin
channel.unref()
if (isMainThread) process.on('SIGUSR2', () => {
  channel.postMessage('now')
  begin()
})
`

interface Options {
  /** Of open files. */
  readonly limit?: number
  /** Of a folder for data; without it the shipped one. */
  readonly config?: (data: string) => object
}

const serving = async (t: Test, preload: string, { limit, config }: Options) => {
  const data = t.testdir({ 'preload.mjs': preload })
  if (config !== undefined) writeFileSync(`${data}/config.json`, JSON.stringify(config(data)))
  const path = config === undefined ? DEFAULT : `${data}/config.json`
  // In the environment, because worker processes get it too.
  const line = ['env', `NODE_OPTIONS=--import ${data}/preload.mjs`, process.execPath, program, path]
  const about = {
    PATH: process.env['PATH'],
    HOME: data,
    REMEXEC_DATA: data,
    REMEXEC_PORT: '0',
    REMEXEC_WORKER_PORT: '0',
  }
  const server = start(t, limit === undefined ? line : limited(limit, line), { env: about })
  const [, port = ''] = await server.hears(/remexec serving grpc:\/\/[^\s:]+:(\d+)/)
  return { server, port: Number(port), data }
}

/** Two file stores, with these settings and further services. */
const withFiles = (global: object, services: object) => (data: string) => {
  const files = (path: string) => ({ filesystem: { content_path: path, temp_path: `${path}-temp` } })
  const all = { cas: { '': { cas_store: 'CAS' } }, ac: { '': { ac_store: 'AC' } }, health: {}, ...services }
  return {
    global,
    stores: { CAS: files(`${data}/cas`), AC: files(`${data}/ac`) },
    servers: [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services: all }],
  }
}

const limited = (descriptors: number, line: readonly string[]): string[] => [
  'sh',
  '-c',
  `ulimit -n ${descriptors}; exec "$0" "$@"`,
  ...line,
]

/** Answers of the server over one connection that stays open. */
const asking = (t: Test, port: number): ((path: string) => Promise<number>) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  return (path) =>
    new Promise((resolve, reject) => {
      const request = get({ host: '127.0.0.1', port, path, agent }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      })
      request.on('error', reject)
    })
}

/** The soft limit of open files of a running process. */
const limitTo = (pid: number, descriptors: number): void => {
  execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${descriptors}:`])
}

const noLimits = spawnSync('prlimit', ['--version']).status === 0 ? false : 'prlimit is not here'

const stops = async (t: Test, { child, ended, said }: Program): Promise<void> => {
  t.equal(child.exitCode, null, 'it serves on')
  t.notMatch(said(), /ended by/)
  child.kill('SIGTERM')
  t.same(await ended, { code: 143, signal: null })
}

t.test('a server without a free descriptor goes on, and serves new clients once there are some again', async (t) => {
  const { server, port } = await serving(t, FULL, { limit: 512, config: withFiles({}, { metrics: {}, pages: {} }) })
  const ask = asking(t, port)
  t.equal(await ask('/status/live'), 200)
  server.child.kill('SIGUSR2')
  await server.hears(/every timer has ticked without a descriptor/)
  t.equal(await ask('/status/live'), 200)
  t.equal(await ask('/metrics'), 200)
  server.child.kill('SIGUSR2')
  await server.hears(/descriptors are free/)
  await until(async () => (await fetch(`http://127.0.0.1:${port}/status/ready`)).status === 200, 'a ready server')
  await stops(t, server)
})

t.test('idle connections take at most half of the descriptors, so that stores can open files', async (t) => {
  const { server, port } = await serving(t, FAST, { limit: 256 })
  await server.hears(/the limit of open files lowers max_connections.*descriptors=256.*accepted=128/)
  const ask = asking(t, port)
  t.equal(await ask('/status/live'), 200)
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  const open = (localAddress: string): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress }, () => resolve())
      socket.on('error', () => resolve()).resume()
      sockets.push(socket)
    })
  for (let opened = 0; opened < 300; opened += 30)
    await Promise.all(Array.from({ length: 30 }, () => open(`127.0.0.${2 + Math.floor(opened / 60)}`)))
  await server.hears(/a connection was refused.*as many as the limit of open files allows/)
  await until(async () => (await ask('/status')) === 200, 'stores that can open files')
  await stops(t, server)
})

t.test(
  'periodic tasks that throw and rejections that nobody handles end neither the server nor a service thread',
  async (t) => {
    const { server, port } = await serving(t, BROKEN, { config: withFiles({ threads: 2 }, {}) })
    server.child.kill('SIGUSR2')
    for (const where of ['the main thread', 'a service thread']) {
      await server.hears(new RegExp(`error a periodic task failed.*a tick broke in ${where}`))
      await server.hears(new RegExp(`error a task that no call waits for failed.*a task broke in ${where}`))
    }
    t.equal((await fetch(`http://127.0.0.1:${port}/status/ready`)).status, 200)
    await stops(t, server)
  },
)

t.test('periodic tasks that throw end no worker process', async (t) => {
  const { server, data } = await serving(t, BROKEN, {})
  await server.hears(/connected to the scheduler/)
  const pid = Number(readFileSync(`${data}/worker-pid`, 'utf8'))
  process.kill(pid, 'SIGUSR2')
  await server.hears(/error a periodic task failed.*a tick broke in a worker process/)
  await server.hears(/error a task that no call waits for failed.*a task broke in a worker process/)
  t.ok(process.kill(pid, 0), 'it is the same process')
  await stops(t, server)
  t.notMatch(server.said(), /the process of a worker ended/)
})

t.test(
  'clients that connect while a server may open no more files are served once it may',
  { skip: noLimits },
  async (t) => {
    const { server, port } = await serving(t, '', { limit: 512, config: withFiles({}, {}) })
    const pid = server.child.pid ?? 0
    const ask = asking(t, port)
    t.equal(await ask('/status/live'), 200)
    const used = readdirSync(`/proc/${pid}/fd`).length
    // Below what it has, so that accept fails with EMFILE, and there is no descriptor in reserve with which to turn clients away.
    limitTo(pid, 3)
    const waiting = Array.from({ length: 20 }, () => asking(t, port)('/status/live'))
    let answered = 0
    for (const one of waiting) one.then(() => answered++, t.fail)
    for (let count = 0; count < 20; count++)
      t.equal(await ask('/status/live'), 200, 'it serves those that are connected')
    t.equal(answered, 0)
    t.equal(readdirSync(`/proc/${pid}/fd`).length <= used, true, 'no connection was accepted')
    limitTo(pid, 512)
    t.same(new Set(await Promise.all(waiting)), new Set([200]))
    await stops(t, server)
  },
)

t.test('a connection that cannot be accepted is a line in the log', async (t) => {
  const { server, port } = await serving(t, UNACCEPTED, { config: withFiles({}, {}) })
  server.child.kill('SIGUSR2')
  for (const code of ['EMFILE', 'ENFILE', 'ECONNABORTED'])
    await server.hears(new RegExp(`warn +a connection could not be accepted.*${code}`))
  await until(async () => (await fetch(`http://127.0.0.1:${port}/status/ready`)).status === 200, 'a ready server')
  await stops(t, server)
})
