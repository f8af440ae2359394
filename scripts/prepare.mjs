// Everything `npm start` and `npm test` need on a fresh clone: dependencies that match the lock file, then a build.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'

const root = new URL('..', import.meta.url)
const modifiedMs = (path) => (existsSync(new URL(path, root)) ? statSync(new URL(path, root)).mtimeMs : 0)

const run = (command, args) => {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

if (modifiedMs('node_modules/.package-lock.json') < modifiedMs('package-lock.json')) {
  run('npm', ['ci', '--no-audit', '--no-fund'])
}
run('npm', ['run', '--silent', 'build'])
