// node scripts/package/manifest.mjs FOLDER [full]: writes package.json and package-lock.json for an installation that only serves: neither
// development tools nor the conformance suite. `full`: also the libraries of optional backends. Install by `npm install --no-save`.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export const writeManifest = (folder, { isFull }) => {
  const {
    devDependencies: _,
    workspaces: __,
    peerDependencies,
    ...rest
  } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const manifest = isFull
    ? { ...rest, dependencies: { ...rest.dependencies, ...peerDependencies } }
    : { ...rest, peerDependencies }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  copyFileSync(join(root, 'package-lock.json'), join(folder, 'package-lock.json'))
}

if (process.argv[1] === import.meta.filename) {
  const [, , folder, word] = process.argv
  if (folder === undefined || (word !== undefined && word !== 'full')) {
    process.stderr.write('usage: node scripts/package/manifest.mjs FOLDER [full]\n')
    process.exit(2)
  }
  writeManifest(folder, { isFull: word === 'full' })
}
