// dist/ from src/: programs, and the parts that they share. Node loads these 150 files in half the time that a module for each of 900
// sources takes. Types are checked by `npm run lint`, not here.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installBuild } from './install.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What is started as a file: commands, and processes and threads of a server. */
const PROGRAMS = [
  'cli.ts',
  'ccache-storage.ts',
  'assembly/service-thread.ts',
  'assembly/worker-process.ts',
  'security/identity/bcrypt-process.ts',
]

installBuild()
const { build } = createRequire(new URL('build/', import.meta.url))('esbuild')

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: PROGRAMS.map((path) => `src/${path}`),
  outdir: 'dist',
  outbase: 'src',
  chunkNames: 'parts/[name]-[hash]',
  bundle: true,
  splitting: true,
  // Installed with the package, by the versions in its manifest.
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  tsconfig: 'tsconfig.json',
  // For the tests, which name lines of sources. Not packed.
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
})
// What an older build left behind would be packed.
const filesIn = (folder) =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    : []
const built = new Set(Object.keys(metafile.outputs).map((path) => join(root, path)))
for (const path of filesIn('dist')) if (!built.has(path)) rmSync(path)
