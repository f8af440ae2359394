/** The files that a release gives to download for one processor, made from dist/ as it is. */
import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { start } from './cli/program.js'
import { run } from './clients/process.js'
import { root } from './clients/scratch.js'

const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }

/** Debian's name of each processor, and what the header of an ELF file says about it. */
const CPUS = {
  x64: { architecture: 'amd64', machine: 0x3e },
  arm64: { architecture: 'arm64', machine: 0xb7 },
} as const

export type Cpu = keyof typeof CPUS

export interface ReleaseFiles {
  readonly version: string
  /** The one that unpacks itself. */
  readonly single: string
  readonly deb: string
}

export const buildFiles = async (t: Test, folder: string, cpu: Cpu): Promise<ReleaseFiles> => {
  // Not by `npm run package`: building anew would pull dist/ away from tests that run beside this one.
  const building = start(t, [process.execPath, 'scripts/package/main.mjs', folder, cpu])
  const { code } = await building.ended
  if (code !== 0) throw new Error(building.said())
  t.comment(building.said())
  return {
    version,
    single: join(folder, `remexec-${version}-linux-${cpu}`),
    deb: join(folder, `remexec_${version}_${CPUS[cpu].architecture}.deb`),
  }
}

const machineOf = async (path: string): Promise<number> => {
  const file = await open(path)
  const { buffer } = await file.read(Buffer.alloc(20), 0, 20, 0)
  await file.close()
  return buffer.readUInt16LE(18)
}

const isOf = async (t: Test, cpu: Cpu, tree: string): Promise<void> => {
  const paths = await readdir(tree, { recursive: true })
  const native = paths.filter((path) => path === 'bin/node' || path.endsWith('.node'))
  t.ok(native.length >= 3, `${native}`)
  for (const path of native) t.equal(await machineOf(join(tree, path)), CPUS[cpu].machine, path)
  for (const name of ['@aws-sdk/client-s3', 'mongodb', 'koffi', 'lz4-napi', 'undici'])
    t.ok(paths.includes(join('node_modules', name, 'package.json')), name)
  for (const name of ['tap', 'typescript', 'remexec-conformance', '@types', '@bokuweb'])
    t.notOk(paths.includes(join('node_modules', name)), name)
}

/** Both have Node and native modules of the processor, and nothing that only developers need. */
export const checkContents = async (t: Test, folder: string, cpu: Cpu, files: ReleaseFiles): Promise<void> => {
  const tree = join(folder, `tree-${cpu}`)
  const script = 'mkdir "$2" && tail -c +"$(grep -aom1 "tail -c +[0-9]*" "$1" | tr -dc 0-9)" "$1" | tar -xzf - -C "$2"'
  t.same(await run('sh', ['-ec', script, '-', files.single, tree], folder, process.env), { code: 0, output: '' })
  await isOf(t, cpu, tree)
  const content = join(folder, `deb-${cpu}`)
  t.equal((await run('dpkg-deb', ['-R', files.deb, content], folder, process.env)).code, 0)
  await isOf(t, cpu, join(content, 'usr/lib/remexec'))
  const { output } = await run('dpkg-deb', ['-f', files.deb, 'Architecture', 'Version'], folder, process.env)
  t.equal(output, `Architecture: ${CPUS[cpu].architecture}\nVersion: ${version}\n`)
  t.equal(await readFile(join(content, 'DEBIAN/conffiles'), 'utf8'), '/etc/remexec/remexec.json5\n')
}
