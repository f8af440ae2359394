/** What a service manager hears: real datagrams over a local socket, as systemd receives them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { silentLog } from '../../src/log/log.js'
import { serviceManager } from '../../src/process/service-manager.js'
import { DEFAULT, serve } from '../cli/program.js'
import { found, untilSo } from '../until.js'

const library = createRequire(import.meta.url)('koffi').load(null)
const open = library.func('int socket(int domain, int type, int protocol)')
const bind = library.func('int bind(int fd, void *address, uint32_t length)')
const receive = library.func('long recv(int fd, void *data, size_t size, int flags)')
const close = library.func('int close(int fd)')

const DGRAM = 2
const DONTWAIT = 0x40

/** A receiver at `path`, which begins with @ if it has no file. */
const receiver = (t: Test, path: string) => {
  const fd = open(1, DGRAM, 0)
  const name = path.startsWith('@') ? `\0${path.slice(1)}` : `${path}\0`
  const address = Buffer.concat([Buffer.from([1, 0]), Buffer.from(name)])
  t.equal(bind(fd, address, address.length), 0)
  t.teardown(() => close(fd))
  const heard: string[] = []
  const look = (): readonly string[] => {
    const bytes = Buffer.alloc(4096)
    for (;;) {
      const length = receive(fd, bytes, bytes.length, DONTWAIT)
      if (length < 0) return heard
      heard.push(bytes.toString('utf8', 0, length))
    }
  }
  return {
    heard: look,
    hears: (pattern: RegExp) => found(async () => look().find((text) => pattern.test(text)), `${pattern}`),
  }
}

const folderOf = (t: Test): string => {
  const folder = mkdtempSync(join(tmpdir(), 'notify-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

t.test('a server says when it is ready, reads its configuration again, lives and stops', async (t) => {
  const folder = folderOf(t)
  const socket = join(folder, 'notify')
  const { heard, hears } = receiver(t, socket)
  const server = serve(t, DEFAULT, join(folder, 'data'), { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '200000' })
  t.match(await hears(/READY=1/), /^READY=1\nSTATUS=serving grpc:\/\/127\.0\.0\.1:\d+/)
  t.match(heard()[0], /^STATUS=starting\nEXTEND_TIMEOUT_USEC=\d+$/, 'a long start is not taken for one that hangs')
  await untilSo(async () => heard().filter((text) => text === 'WATCHDOG=1').length >= 3)

  server.child.kill('SIGHUP')
  t.match(await hears(/RELOADING=1/), /^RELOADING=1\nMONOTONIC_USEC=\d+\n/)
  await untilSo(async () => heard().filter((text) => /^READY=1/.test(text)).length === 2)
  const all = heard()
  t.ok(all.findIndex((text) => /RELOADING/.test(text)) < all.findLastIndex((text) => /^READY=1/.test(text)))

  server.child.kill('SIGTERM')
  t.match(await hears(/STOPPING=1/), /^STOPPING=1\nSTATUS=stopping: actions get 8 s$/)
  await server.ended
  t.notMatch(server.said(), /service manager/)
})

t.test('an error in a configuration that is read again ends the reload too', async (t) => {
  const folder = folderOf(t)
  const { heard, hears } = receiver(t, `@${folder}`)
  const config = join(folder, 'config.json5')
  const service = { name: 'a', listener: { http: { socket_address: '127.0.0.1:0' } }, services: { health: {} } }
  writeFileSync(config, JSON.stringify({ stores: { CAS: { memory: {} } }, servers: [service] }))
  const server = serve(t, config, join(folder, 'data'), { NOTIFY_SOCKET: `@${folder}` })
  await hears(/READY=1/)
  writeFileSync(config, '{ nonsense: 1 }')
  server.child.kill('SIGHUP')
  await server.hears(/has errors: nothing has changed/)
  await untilSo(async () => heard().filter((text) => /^READY=1/.test(text)).length === 2)
})

t.test('the programs of actions cannot speak for the server: the variables are gone', async (t) => {
  const folder = folderOf(t)
  const env = { NOTIFY_SOCKET: join(folder, 'notify'), WATCHDOG_USEC: '1000000', WATCHDOG_PID: '1', OTHER: 'stays' }
  const { heard } = receiver(t, env.NOTIFY_SOCKET)
  const manager = serviceManager(env, silentLog)
  t.same(env, { OTHER: 'stays' })
  manager.ready('two\nlines')
  t.same(heard(), ['READY=1\nSTATUS=two lines'], 'and the watchdog of another process is not answered')
})

t.test(
  'without a service manager nothing is sent, and a socket that is gone is told once for each message',
  async (t) => {
    const manager = serviceManager({}, silentLog)
    manager.starting()
    manager.ready('x')
    manager.stopping('x')
    const lines: string[] = []
    const log = { ...silentLog, warn: (text: string) => lines.push(text), error: (text: string) => lines.push(text) }
    serviceManager({ NOTIFY_SOCKET: '/nowhere/notify' }, log as typeof silentLog).ready('x')
    serviceManager({ NOTIFY_SOCKET: 'vsock:2:1234' }, log as typeof silentLog).ready('x')
    t.equal(lines.length, 2)
    t.match(lines[1], /NOTIFY_SOCKET is no path/)
  },
)
