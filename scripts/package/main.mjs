// npm run package -- OUT [CPU...]: writes a single file and a Debian package of dist/ for each processor into the folder OUT.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { makeDeb } from './deb.mjs'
import { makeSingleFile } from './single-file.mjs'
import { CPUS, makeTree } from './tree.mjs'

const [out, ...cpus] = process.argv.slice(2)
const unknown = cpus.filter((cpu) => !CPUS.includes(cpu))
if (out === undefined || unknown.length > 0) {
  process.stderr.write(`usage: npm run package -- OUT [${CPUS.join('] [')}]\n`)
  process.exit(2)
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
mkdirSync(out, { recursive: true })
for (const cpu of cpus.length > 0 ? cpus : CPUS) {
  const work = mkdtempSync(join(tmpdir(), 'remexec-package-'))
  try {
    const tree = join(work, 'tree')
    makeTree({ cpu, work, tree })
    const path = resolve(out, `remexec-${version}-linux-${cpu}`)
    makeSingleFile({ cpu, version, tree, path })
    for (const made of [path, makeDeb({ cpu, version, tree, work, out: resolve(out) })])
      process.stdout.write(`${made} ${(statSync(made).size / 1e6).toFixed(1)} MB\n`)
  } finally {
    rmSync(work, { recursive: true })
  }
}
