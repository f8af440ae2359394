// node scripts/release.mjs VERSION [DATE]: writes a version into every file that has one, and dates the changelog. It commits and publishes
// nothing; docs/releasing.md has the steps around it. The folder can be given in REMEXEC_RELEASE_ROOT, for tests.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = process.env['REMEXEC_RELEASE_ROOT'] ?? fileURLToPath(new URL('..', import.meta.url))
const at = (path) => join(root, path)
const fail = (text) => {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

const [version = '', date = new Date().toISOString().slice(0, 10)] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(version)) fail('usage: node scripts/release.mjs VERSION [YYYY-MM-DD], e.g. 1.2.3')

const editText = (path, change) => {
  const before = readFileSync(at(path), 'utf8')
  const after = change(before)
  if (after === before) fail(`${path}: nothing to change. Is it released as ${version} already?`)
  return () => writeFileSync(at(path), after)
}

const editJson = (path, change) =>
  editText(path, (text) => {
    const value = JSON.parse(text)
    change(value)
    return `${JSON.stringify(value, null, 2)}\n`
  })

const setVersion = (manifest) => {
  manifest.version = version
}

const dateChangelog = (text) => {
  const heading = '## Unreleased\n'
  const [before, after] = text.split(heading)
  if (after === undefined) fail(`CHANGELOG.md: no line "${heading.trim()}"`)
  if (text.includes(`\n## ${version}`)) fail(`CHANGELOG.md: ${version} has a section already`)
  if (/^\s*(## |$)/.test(after)) fail('CHANGELOG.md: the section Unreleased is empty')
  return `${before}${heading}\n## ${version} - ${date}\n${after}`
}

// Every change is known to succeed before the first file is written.
const writes = [
  editText('CHANGELOG.md', dateChangelog),
  editJson('package.json', setVersion),
  editJson('conformance/package.json', setVersion),
  editJson('package-lock.json', (lock) => {
    for (const manifest of [lock, lock.packages[''], lock.packages.conformance]) setVersion(manifest)
  }),
  editText('deploy/chart/Chart.yaml', (text) =>
    text.replace(/^version: .*$/m, `version: ${version}`).replace(/^appVersion: .*$/m, `appVersion: "${version}"`),
  ),
]
for (const write of writes) write()
process.stdout.write(`${version} of ${date}\n`)
