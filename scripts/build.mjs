// dist/ from src/: programs, and the parts that they share. Node loads these 150 files in half the time that a module for each of 900
// sources takes. Types are checked by `npm run lint`, not here.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundledLibraries, LICENSES } from './bundled.mjs'
import { installBuild } from './install.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What is started as a file: commands, and processes and threads of a server. */
const PROGRAMS = [
  'cli.ts',
  'ccache-storage.ts',
  'assembly/threads/service-thread.ts',
  'assembly/worker-process.ts',
  'security/identity/bcrypt-process.ts',
]

installBuild()
const { build } = createRequire(new URL('build/', import.meta.url))('esbuild')
const libraries = bundledLibraries()

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: PROGRAMS.map((path) => `src/${path}`),
  outdir: 'dist',
  outbase: 'src',
  chunkNames: 'parts/[name]-[hash]',
  bundle: true,
  splitting: true,
  plugins: [libraries.plugin],
  // The modules of libraries, which leave out what nobody imports.
  mainFields: ['module', 'main'],
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
libraries.finish(metafile, 'dist')
/** What the programs load. Libraries have parts that nobody loads. */
const used = new Set(PROGRAMS.map((path) => `dist/${path.replace(/ts$/, 'js')}`))
for (const path of used)
  for (const { path: imported, external } of metafile.outputs[path].imports) if (!external) used.add(imported)
// What nobody loads, or an older build left behind, would be packed.
const filesIn = (folder) =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    : []
const built = new Set([...used].flatMap((path) => [join(root, path), join(root, `${path}.map`)]))
built.add(join(root, 'dist', LICENSES))
for (const path of filesIn('dist')) if (!built.has(path)) rmSync(path)
