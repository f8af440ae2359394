// The published package: the compiled suite, with its tables and sessions at the same relative paths as in the
// repository.
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { installAll } from '../scripts/install.mjs'

installAll()
const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')

rmSync(at('dist'), { recursive: true, force: true })
const { status, error } = spawnSync(process.execPath, [tsc, '-p', at('tsconfig.json')], { stdio: 'inherit' })
if (error) throw error
if (status !== 0) process.exit(status ?? 1)
for (const path of [
  'conformance/requirements/requirements.tsv',
  'conformance/package.json',
  'protos/bundle.json',
  'fixtures/sessions',
]) {
  cpSync(at(`../${path}`), at(`dist/${path}`), { recursive: true })
}
for (const program of ['main.js', 'record/main.js']) chmodSync(at(`dist/conformance/${program}`), 0o755)
