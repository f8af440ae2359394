// Dependencies that match the lock files: those to serve, those to build, and those to develop.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const modifiedMs = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0)

/** Whether the folder has what its lock file asks for, as far as times tell. */
const isCurrent = (folder) =>
  modifiedMs(`${folder}node_modules/.package-lock.json`) >= modifiedMs(`${folder}package-lock.json`)

export const run = (command, args, cwd = root) => {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

// `npm pack --dry-run` would make a dry run of this too, and the build would lack its tools.
const install = (folder, ...options) =>
  run('npm', ['ci', '--no-audit', '--no-fund', '--dry-run=false', ...options], folder)

const hasAll = () => existsSync(`${root}node_modules/tap`)

/**
 * What `npm start` and the conformance suite need: neither development tools nor the libraries of optional backends. A checkout that has
 * these keeps them.
 */
export const installServed = () => {
  if (isCurrent(root)) return
  if (hasAll()) install(root)
  else install(root, '--omit=dev', '--ignore-scripts')
}

/** Everything, for tests and benches. */
export const installAll = () => {
  if (!isCurrent(root) || !hasAll()) install(root)
}

/** What turns src/ into dist/. */
export const installBuild = () => {
  const folder = `${root}scripts/build/`
  if (!isCurrent(folder)) install(folder, '--ignore-scripts')
}
