// A shell script with an archive behind it: scripts/package/start.sh says what it does.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { NODE, NODE_OPTIONS } from './tree.mjs'

/** By processor: what `uname -sm` says, and the loader of glibc. */
const MACHINES = {
  x64: { uname: "'Linux x86_64'", loader: '/lib64/ld-linux-x86-64.so.2' },
  arm64: { uname: "'Linux aarch64'", loader: '/lib/ld-linux-aarch64.so.1' },
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

/** What `find` and `sort` of start.sh print for the folder once it is unpacked. */
const listingOf = (tree) => {
  const lines = []
  const add = (path) => {
    const stats = statSync(path)
    const mode = (stats.mode & 0o7777).toString(8)
    const name = relative(tree, path)
    if (!stats.isDirectory()) {
      lines.push(`f ${mode} ${stats.size} ${Math.floor(stats.mtimeMs / 1000)} ${name}\n`)
      return
    }
    lines.push(`d ${mode} ${name}\n`)
    for (const entry of readdirSync(path)) add(join(path, entry))
  }
  add(tree)
  return lines.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).join('')
}

const archiveOf = (tree) =>
  execFileSync(
    'sh',
    ['-ec', 'tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner -cf - . | gzip -n6', '-', tree],
    {
      maxBuffer: 1 << 30,
    },
  )

export const makeSingleFile = ({ cpu, version, tree, path }) => {
  const archive = archiveOf(tree)
  const values = {
    VERSION: version,
    NODE,
    NODE_OPTIONS,
    CPU: cpu,
    UNAME: MACHINES[cpu].uname,
    LOADER: MACHINES[cpu].loader,
    LISTING: sha256(listingOf(tree)),
    SHA256: sha256(archive),
    HASH: sha256(archive).slice(0, 16),
  }
  const template = readFileSync(new URL('start.sh', import.meta.url), 'utf8').replace(
    /@([A-Z]\w*)@/g,
    (found, name) => values[name] ?? found,
  )
  // As long as what it stands for.
  const width = '@OFFSET@'.length
  const offset = String(Buffer.byteLength(template) + 1).padEnd(width)
  writeFileSync(path, Buffer.concat([Buffer.from(template.replace('@OFFSET@', offset)), archive]))
  chmodSync(path, 0o755)
}
