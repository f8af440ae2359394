import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import t, { type Test } from 'tap'
import { LogDescriptor } from '../../src/process/log-descriptor.js'
import { freePorts } from '../store/remote/backend.js'
import { found, until } from '../until.js'
import { DEFAULT, program, root } from './program.js'

// A server whose standard error cannot be written: a full disk, a reader that has closed, a reader that does not read.

/** What `look` returns; an error once the server has ended. */
const whileRuns = <T>({ exitCode, signalCode }: ChildProcess, look: () => T): T => {
  if (exitCode !== null || signalCode !== null) throw new Error(`the server has ended: ${exitCode ?? signalCode}`)
  return look()
}

/** The server with its log as JSON to `stderr`. */
const serveTo = async (t: Test, data: string, stderr: number) => {
  const store = { filesystem: { content_path: `${data}/content`, temp_path: `${data}/temp` } }
  const server = {
    listener: { http: { socket_address: '127.0.0.1:0' } },
    services: { cas: { '': { cas_store: 'CAS' } }, health: {} },
  }
  const config = { global: { log_level: 'debug' }, stores: { CAS: store }, servers: { one: server } }
  writeFileSync(`${data}/config.json`, JSON.stringify(config))
  const env = { PATH: process.env['PATH'], HOME: data, REMEXEC_LOG_FORMAT: 'json' }
  const stdio = ['ignore', 'ignore', stderr] as const
  const child = spawn(process.execPath, [program, `${data}/config.json`], { cwd: root, env, stdio: [...stdio] })
  t.teardown(() => child.kill('SIGKILL'))
  const port = await found(() => whileRuns(child, () => listeningPort(child.pid as number)), 'the port of the server')
  const status = (below = '') => fetch(`http://127.0.0.1:${port}/status${below}`)
  const isReady = async (): Promise<boolean> => (await status('/ready')).ok
  await until(() => whileRuns(child, isReady))
  const logOf = async (): Promise<string> => {
    const reports = (await (await status()).json()) as { component: string; status: object }[]
    return JSON.stringify(reports.find(({ component }) => component === 'log')?.status)
  }
  /** Makes the server write log lines: changes between failure and success of a component are logged. */
  const cause = async (): Promise<void> => {
    rmSync(`${data}/temp`, { recursive: true })
    t.equal((await status()).status, 503)
    mkdirSync(`${data}/temp`)
    t.equal((await status()).status, 200)
  }
  return { child, cause, logOf }
}

/** The port of a process, which cannot report it because its log is not readable. */
const listeningPort = (pid: number): number | undefined => {
  const inodes = new Set<string>()
  for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${descriptor}`)) ?? []
    if (inode !== undefined) inodes.add(inode)
  }
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
    if (state === LISTEN && inodes.has(inode)) return Number.parseInt(local.split(':')[1] ?? '', 16)
  }
  return undefined
}

const LISTEN = '0A'

const linkOf = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    // The descriptor may have been closed in the meantime.
    return ''
  }
}

const stops = async (t: Test, child: ChildProcess): Promise<void> => {
  t.equal(child.exitCode, null, 'it serves on')
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [143, null])
}

t.test('a server with its log on a full disk keeps serving and reports the problem in its health', async (t) => {
  const full = openSync('/dev/full', 'w')
  const { child, cause, logOf } = await serveTo(t, t.testdir(), full)
  closeSync(full)
  await cause()
  t.match(await logOf(), /"Warning".*the disk is full \(ENOSPC\).*lines lost since the start: [1-9]/)
  await stops(t, child)
})

t.test(
  'a server whose log reader has closed keeps serving, and reports the number of lost lines to the next reader',
  async (t) => {
    const data = t.testdir()
    const path = `${data}/log`
    spawnSync('mkfifo', [path])
    const first = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const writer = openSync(path, constants.O_WRONLY)
    const { child, cause, logOf } = await serveTo(t, data, writer)
    closeSync(writer)
    closeSync(first)
    await cause()
    t.match(await logOf(), /"Warning".*EPIPE.*lines lost since the start: [1-9]/)
    const second = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    t.teardown(() => closeSync(second))
    const said = await readUntil(second, /lines of the log were lost/)
    const [line = ''] = said.split('\n').filter((one) => one.includes('were lost'))
    const { level, count, reason } = JSON.parse(line)
    t.match({ level, reason }, { level: 'warn', reason: /EPIPE/ })
    t.ok(count > 0, `${count} lines`)
    t.match(await logOf(), /"Ok".*lines lost since the start: [1-9]/)
    await stops(t, child)
  },
)

const fillPipe = (writer: number): void => {
  const bytes = Buffer.alloc(4096, 'x')
  for (let sizeBytes = 4096; sizeBytes >= 1; )
    try {
      writeSync(writer, bytes, 0, sizeBytes)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      sizeBytes = sizeBytes === 4096 ? 1 : 0
    }
}

/** Empty if the process has ended meanwhile. */
const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return ''
    throw error
  }
}

/** The processes of workers of a server. */
const workersOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((child) => child !== '' && /worker-process/.test(commandOf(child)))
    .map(Number)

t.test(
  'a full log pipe that nobody reads does not stop a server whose worker process ends, nor its stop',
  async (t) => {
    const data = t.testdir()
    const path = `${data}/log`
    spawnSync('mkfifo', [path])
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    t.teardown(() => closeSync(reader))
    const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
    fillPipe(writer)
    const [port = 0] = await freePorts(1)
    const env = { PATH: process.env['PATH'], HOME: data, REMEXEC_DATA: data }
    const child = spawn(process.execPath, [program, DEFAULT], {
      ...{ cwd: root, stdio: ['ignore', 'ignore', writer] },
      env: { ...env, REMEXEC_PORT: String(port), REMEXEC_WORKER_PORT: '0' },
    })
    t.teardown(() => child.kill('SIGKILL'))
    closeSync(writer)
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/status/ready`).then(
        ({ ok }) => ok,
        () => false,
      )
    await until(() => whileRuns(child, isReady))
    for (let lives = 0; lives < 2; lives++) {
      const now = (): readonly number[] => whileRuns(child, () => workersOf(child.pid as number))
      await until(() => now().length > 0)
      const workers = now()
      for (const worker of workers) process.kill(worker, 'SIGKILL')
      await until(() => !now().some((pid) => workers.includes(pid)))
      t.equal((await fetch(`http://127.0.0.1:${port}/status/live`)).status, 200)
    }
    await stops(t, child)
  },
)

/** Reads a pipe until its output matches. */
const readUntil = async (descriptor: number, pattern: RegExp): Promise<string> => {
  const bytes = Buffer.alloc(65_536)
  let said = ''
  await until(
    () => {
      try {
        said += bytes.toString('utf8', 0, readSync(descriptor, bytes))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      }
      return pattern.test(said)
    },
    () => `${pattern} in ${said.slice(-1000)}`,
  )
  return said
}

t.test('lines for a slow reader are bounded, and lost ones are counted and reported in their place', async (t) => {
  const path = `${t.testdir()}/log`
  spawnSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  t.teardown(() => {
    closeSync(reader)
    closeSync(writer)
  })
  const output = new LogDescriptor({ fd: writer })
  output.noticeOf = (lines) => `LOST ${lines}\n`
  const padding = 'x'.repeat(1000)
  const lines = 5000
  for (let line = 0; line < lines; line++) output.write(`${line} ${padding}\n`)
  const { lostLines } = output
  t.ok(lostLines > lines / 2 && lostLines < lines, `${lostLines} of ${lines} are lost`)
  const keepAlive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(keepAlive))
  const said = await readUntil(reader, /LOST \d+\n/)
  const words = said.split('\n').map((line) => line.split(' ')[0])
  const kept = lines - lostLines
  t.same(words, [...Array.from({ length: kept }, (_, line) => String(line)), 'LOST', ''])
  t.match(said, `LOST ${lostLines}\n`)
  output.write('and on\n')
  t.equal(await readUntil(reader, /on\n/), 'and on\n')
})

t.test('a line that is longer than what may wait is lost, also if nothing else waits', async (t) => {
  const path = `${t.testdir()}/log`
  spawnSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  t.teardown(() => {
    closeSync(reader)
    closeSync(writer)
  })
  const output = new LogDescriptor({ fd: writer })
  output.write(`${'x'.repeat(3 * 1024 * 1024)}\n`)
  t.equal(output.lostLines, 1)
})
