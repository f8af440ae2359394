/** Two tenants at every command that asks a server: what is not one's own is as unknown as what nobody has. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { allCommands } from '../../src/command/commands.js'
import { MARK, startTenants } from '../pages/tenants-fixture.js'
import { program } from './program.js'

interface Ids {
  readonly build: string
  readonly action: string
  readonly file: string
  readonly directory: string
  readonly worker: string
  readonly origin: string
}

interface Asked {
  readonly words: readonly string[]
  /** For the standard input. */
  readonly input?: string
  /** Whether the owner gets an answer; a list is answered to all. */
  readonly isFor?: 'owner' | 'operator'
}

t.setTimeout(300_000)

const ofMain = ['--instance', 'main']
const tool = (name: string, of: object): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: of } })}\n`

/** How each command asks for what belongs to somebody; a text is the reason why a command needs none. */
const COMMANDS: Readonly<Record<string, string | ((ids: Ids) => readonly Asked[])>> = {
  doctor: () => [{ words: ofMain }],
  status: () => [{ words: [], isFor: 'operator' }],
  queue: () => [{ words: [], isFor: 'operator' }],
  builds: () => [{ words: [], isFor: 'operator' }],
  ls: () => [{ words: [], isFor: 'operator' }],
  drain: ({ worker }) => [{ words: [worker], isFor: 'operator' }],
  build: ({ build, origin }) => [
    { words: ['list'] },
    { words: ['list', '--json'] },
    { words: ['show', build], isFor: 'owner' },
    { words: ['show', build, '--errors', '--json'], isFor: 'owner' },
    { words: ['show', `${origin}/invocation/${build}/timing`], isFor: 'owner' },
  ],
  why: ({ action }) => [
    { words: [action, ...ofMain], isFor: 'owner' },
    { words: [action.slice(0, 12)], isFor: 'owner' },
  ],
  mcp: ({ build, action }) => [
    { words: [], input: tool('list_builds', {}) },
    { words: [], input: tool('show_build', { build }), isFor: 'owner' },
    { words: [], input: tool('build_errors', { build }), isFor: 'owner' },
    { words: [], input: tool('why_missed', { action }), isFor: 'owner' },
    { words: [], input: tool('why_waiting', { action }) },
  ],
  rm: ({ action, build }) => [
    { words: ['--action', action, '--dry-run', ...ofMain], isFor: 'operator' },
    { words: ['--build', build, '--dry-run', ...ofMain], isFor: 'operator' },
    { words: ['--target', `//${MARK}`, '--dry-run', ...ofMain], isFor: 'operator' },
  ],
  cas: ({ file, directory }) => [
    { words: ['get', file, ...ofMain], isFor: 'owner' },
    { words: ['tree', directory, ...ofMain], isFor: 'owner' },
  ],
  action: ({ action, origin }) => [
    { words: ['show', action, ...ofMain], isFor: 'owner' },
    { words: ['show', `${origin}/a/${action.slice(0, 12)}`] },
    { words: ['run', action, ...ofMain] },
  ],
  'go-cache': 'asks for keys that the go command makes, as any client of the caches',
  'ccache-storage': 'asks for keys that ccache makes, as any client of the caches',
}

const nobodys = (ids: Ids): Ids => ({
  ...ids,
  build: 'build-of-nobody',
  action: ids.action.replaceAll(/[0-9a-f]{64}/g, '0'.repeat(64)),
  file: ids.file.replaceAll(/[0-9a-f]{64}/g, '0'.repeat(64)),
  directory: ids.directory.replaceAll(/[0-9a-f]{64}/g, '0'.repeat(64)),
  worker: 'no-such-worker',
})

/** Whatever id was asked for is repeated in the answer. */
const withoutIds = (text: string, ids: Ids): string =>
  [ids.build, ids.worker].reduce(
    (rest, id) => rest.replaceAll(id, 'ID'),
    text.replaceAll(/[0-9a-f]{12,64}(-\d+)?/g, 'ID'),
  )

t.test('another tenant learns nothing by any command', async (t: Test) => {
  const { origin, port, worker, keys } = await startTenants(t)
  const folder = t.testdir()
  const ids: Ids = {
    ...{ build: `build-${MARK}`, action: keys.action.key, file: keys.file.key, directory: keys.directory.key },
    ...{ worker: worker.id, origin },
  }
  const run = async (name: string, command: string, { words, input = '' }: Asked) => {
    const token = join(folder, name)
    writeFileSync(token, `token-of-${name}`)
    const address = command === 'doctor' ? [`grpc://127.0.0.1:${port}`] : ['--server', `grpc://127.0.0.1:${port}`]
    const all = [program, command, ...words, ...address, '--token-file', token]
    const child = spawn(process.execPath, all, { env: { PATH: process.env['PATH'] }, stdio: ['pipe', 'pipe', 'pipe'] })
    t.teardown(() => child.kill('SIGKILL'))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    const [out, error, code] = await Promise.all([
      textOf(child.stdout),
      textOf(child.stderr),
      new Promise((resolve) => child.once('close', resolve)),
    ])
    return { code, text: `${out}${error}` }
  }
  for (const { name: command, options } of await allCommands()) {
    if (!('server' in options)) continue
    const casesOf = COMMANDS[command]
    if (casesOf === undefined) {
      t.fail(`${command} asks a server, and is not in the table of this test`)
      continue
    }
    if (typeof casesOf === 'string') continue
    const unknown = casesOf(nobodys(ids))
    for (const [at, asked] of casesOf(ids).entries()) {
      const what = [command, ...asked.words, asked.input?.trim()].filter(Boolean).join(' ')
      const [others, nothing] = await Promise.all([
        run('bob', command, asked),
        run('bob', command, unknown[at] as Asked),
      ])
      t.equal(others.code, nothing.code, `${what}: exit status`)
      t.equal(withoutIds(others.text, ids), withoutIds(nothing.text, nobodys(ids)), what)
      t.notMatch(withoutIds(others.text, ids).replaceAll(/\/\/of-ann/g, ''), MARK, what)
      if (asked.isFor === undefined) continue
      const answered = await run(asked.isFor === 'owner' ? 'ann' : 'olga', command, asked)
      t.notMatch(answered.text, /PERMISSION_DENIED|NOT_FOUND|there is no/, `${what}: ${asked.isFor}`)
    }
  }
})
