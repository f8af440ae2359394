// dist/ from src/: each file becomes one module. Types are checked by `npm run lint`, not here.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installBuild } from './install.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'src')
const target = join(root, 'dist')

installBuild()
const { build } = createRequire(new URL('build/', import.meta.url))('esbuild')

const filesIn = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    : []

const sources = filesIn(source)
await build({
  entryPoints: sources,
  outdir: target,
  outbase: source,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  tsconfig: join(root, 'tsconfig.json'),
  // For the tests, which name lines of sources. Not packed.
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
})
// What a removed source left behind would still be loaded, and packed.
const built = new Set(
  sources.flatMap((path) => {
    const module = join(target, `${path.slice(source.length).replace(/\.tsx?$/, '')}.js`)
    return [module, `${module}.map`]
  }),
)
for (const path of filesIn(target)) if (!built.has(path)) rmSync(path)
