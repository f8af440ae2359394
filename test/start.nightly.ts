// For changes in: scripts, package.json, package-lock.json
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { start } from './cli/program.js'
import { cleanEnv, run } from './clients/process.js'
import { root, scratchFolder } from './clients/scratch.js'

t.setTimeout(180_000)

t.test('npm start on a fresh clone installs what serving needs, builds, and serves', async (t) => {
  const folder = await scratchFolder(t)
  const clone = join(folder, 'clone')
  const { code, output } = await run('git', ['clone', '--quiet', root, clone], folder, cleanEnv(folder))
  t.equal(code, 0, output)
  const env = { ...process.env, REMEXEC_DATA: join(folder, 'data'), REMEXEC_PORT: '0' }
  // In a group of its own, because npm does not pass signals on to what it starts.
  const server = start(t, ['npm', 'start'], { cwd: clone, env, detached: true })
  const [, page = ''] = await server.hears(/ {2}page +(http:\S+)/)
  t.equal((await fetch(page)).status, 200)
  for (const name of ['tap', 'typescript', '@aws-sdk', 'mongodb'])
    t.notOk(existsSync(join(clone, 'node_modules', name)), `${name} is not installed`)
  process.kill(-(server.child.pid ?? 0), 'SIGTERM')
  await server.ended
})
