// The folder of a package that needs nothing but glibc: what `npm pack` packs, Node, and all dependencies, the optional ones too.
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../install.mjs'
import { writeManifest } from './manifest.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Node as it is shipped, from its packages for each processor. */
export const NODE = '24.21.0'
const INTEGRITY = {
  x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  arm64: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
}

export const CPUS = Object.keys(INTEGRITY)

/** Room for the objects of a busy moment: docs/operation.md, "Memory of the process". */
export const NODE_OPTIONS = '--max-semi-space-size=32'

const QUIET = ['--loglevel=error', '--no-audit', '--no-fund', '--prefer-offline']

const unpack = (archive, to, ...members) => {
  mkdirSync(to, { recursive: true })
  run('tar', ['-xzf', archive, '-C', to, '--strip-components=1', '--no-same-owner', ...members])
}

const addPackage = (work, tree) => {
  run('npm', ['pack', '--ignore-scripts', ...QUIET, '--pack-destination', work], root)
  const [archive] = readdirSync(work).filter((name) => name.endsWith('.tgz'))
  unpack(join(work, archive), tree)
  rmSync(join(work, archive))
}

const addNode = (work, tree, cpu) => {
  const name = `node-linux-${cpu}`
  run('npm', ['pack', `${name}@${NODE}`, ...QUIET, '--pack-destination', work], root)
  const archive = join(work, `${name}-${NODE}.tgz`)
  const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (integrity !== INTEGRITY[cpu]) throw new Error(`${name}@${NODE} is ${integrity}, expected ${INTEGRITY[cpu]}`)
  unpack(archive, tree, 'package/bin/node')
  unpack(archive, join(tree, 'licenses/node'), 'package/LICENSE')
}

/** By the lock file, for the processor; what only serves compilers and debuggers is left out. */
const addDependencies = (work, tree, cpu) => {
  const folder = join(work, 'dependencies')
  writeManifest(folder, { isFull: true })
  const target = ['--os=linux', `--cpu=${cpu}`, '--libc=glibc']
  run('npm', ['install', '--no-save', '--ignore-scripts', ...QUIET, ...target], folder)
  renameSync(join(folder, 'node_modules'), join(tree, 'node_modules'))
}

const NOT_RUN = /(?<!^(licen[cs]e|notice|copying).*)\.(map|ts|mts|cts|md|markdown)$/i
const LEFT_OUT = new Set(['.bin', '.package-lock.json', '@types'])

const prune = (folder) => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (LEFT_OUT.has(entry.name) || (entry.isFile() && NOT_RUN.test(entry.name))) rmSync(path, { recursive: true })
    else if (entry.isDirectory()) prune(path)
  }
}

/** npm sets all times to this one as well. */
const TIME = new Date('1985-10-26T08:15:00Z')

/** The same modes and times for everybody, so that one build gives one archive. */
const settle = (folder) => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) settle(path)
    else if (!entry.isFile()) throw new Error(`${path}: expected a file or a folder`)
    else {
      chmodSync(path, /\/bin\/node$|\/dist\/(cli|ccache-storage)\.js$/.test(path) ? 0o755 : 0o644)
      utimesSync(path, TIME, TIME)
    }
  }
  chmodSync(folder, 0o755)
  utimesSync(folder, TIME, TIME)
}

/** Makes `tree` from dist/ as it is now. `work` is a folder for what is downloaded. */
export const makeTree = ({ cpu, work, tree }) => {
  mkdirSync(tree, { recursive: true })
  addPackage(work, tree)
  addNode(work, tree, cpu)
  addDependencies(work, tree, cpu)
  prune(join(tree, 'node_modules'))
  settle(tree)
}
