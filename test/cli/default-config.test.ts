/** Which configuration `remexec` without a name serves. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { configPlaces } from '../../src/command/default-config.js'
import { program, start } from './program.js'

const CONFIG = `{
  stores: { OWN: { memory: { eviction_policy: { max_bytes: '1mb' } } } },
  servers: [{
    name: 'mine', listener: { http: { socket_address: '127.0.0.1:0' } },
    services: { cas: [{ cas_store: 'OWN' }] },
  }],
}`

const put = (path: string, text = CONFIG): string => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

const run = (home: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], HOME: home, ...env },
    encoding: 'utf8',
  })
  return { status, output: `${stdout}${stderr}` }
}

t.test('the places, in their order', async (t) => {
  const home = process.env['HOME'] ?? ''
  t.same(configPlaces({}), [`${home}/.config/remexec/remexec.json5`, '/etc/remexec/remexec.json5'])
  t.same(configPlaces({ XDG_CONFIG_HOME: '/h', XDG_CONFIG_DIRS: '/a:relative:/b' }), [
    '/h/remexec/remexec.json5',
    '/a/remexec/remexec.json5',
    '/b/remexec/remexec.json5',
    '/etc/remexec/remexec.json5',
  ])
})

const serves = async (t: Test, home: string, env: NodeJS.ProcessEnv, args: readonly string[], pattern: RegExp) => {
  const server = start(t, [process.execPath, program, ...args], {
    env: { PATH: process.env['PATH'], HOME: home, REMEXEC_PORT: '0', REMEXEC_WORKER_PORT: '0', ...env },
  })
  await server.hears(pattern)
  server.child.kill('SIGTERM')
  await server.ended
}

t.test('remexec serves the configuration of the user, and `remexec start` its own', async (t) => {
  const home = t.testdir()
  await serves(t, home, {}, [], /serving grpc:\/\/\S+ server=public/)
  put(join(home, 'dirs/remexec/remexec.json5'))
  await serves(t, home, { XDG_CONFIG_DIRS: join(home, 'dirs') }, [], /serving grpc:\/\/\S+ server=mine/)
  put(join(home, '.config/remexec/remexec.json5'), CONFIG.replace("'mine'", "'of-home'"))
  await serves(t, home, { XDG_CONFIG_DIRS: join(home, 'dirs') }, [], /serving grpc:\/\/\S+ server=of-home/)
  await serves(t, home, { XDG_CONFIG_DIRS: join(home, 'dirs') }, ['start', '--port', '0'], /server=public/)
})

t.test('validate and doctor look at the same configuration', async (t) => {
  const home = t.testdir()
  t.match(run(home, ['validate']), { status: 0, output: /recipes\/machine\/remexec\.json5: valid/ })
  t.match(run(home, ['doctor'], { REMEXEC_PORT: '0' }), { status: 0, output: /0 errors/ })
  const path = put(join(home, '.config/remexec/remexec.json5'), '{ nonsense: 1 }')
  t.match(run(home, ['validate']), { status: 1, output: path })
  t.match(run(home, ['doctor']), { status: 1, output: path })
  t.match(run(home, []), { status: 1, output: path })
})
