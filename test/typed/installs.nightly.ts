// For changes in: README.md, CONTRIBUTING.md, package.json, package-lock.json, scripts
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { start } from '../cli/program.js'
import { freshClone, type, typeOnClones } from './clones.js'

t.setTimeout(1_150_000)

typeOnClones(['build', 'lint', 'generate'])

t.test('on a fresh clone: npm start serves, and the suite judges what it serves', async (t) => {
  const { cwd, env } = await freshClone(t)
  // In a group of its own, because npm does not pass signals on to what it starts.
  const server = start(t, ['npm', 'start'], { cwd, env, detached: true })
  const [, address = ''] = await server.hears(/ {2}address +(grpc:\S+)/)
  const judge = await freshClone(t)
  await type(t, `npm run conformance -- ${address} --only CMD --quiet`, judge.cwd, judge.env)
  process.kill(-(server.child.pid ?? 0), 'SIGTERM')
  await server.ended
})

t.test('on a fresh clone: what was built serves a configuration, and doctor looks at the machine', async (t) => {
  const { folder, cwd, env } = await freshClone(t)
  await type(t, 'npm run build', cwd, env)
  const text = await readFile(join(cwd, 'fixtures/configs/readme.json5'), 'utf8')
  await writeFile(join(cwd, 'my-config.json5'), text.replaceAll(':50051', ':0').replaceAll('~/', `${folder}/`))
  const server = start(t, ['node', 'dist/cli.js', 'my-config.json5'], { cwd, env })
  await server.hears(/serving grpc:/)
  server.child.kill('SIGTERM')
  await server.ended
  const doctor = start(t, ['node', 'dist/cli.js', 'doctor', 'my-config.json5'], { cwd, env })
  await doctor.ended
  t.match(doctor.said(), /^0 errors, \d+ warnings?, \d+ checks passed$/m)
})
