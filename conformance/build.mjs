// dist/ from the suite: what `npm run conformance` runs and the package holds. Compiled modules, with tables and sessions at the same
// relative paths as in the repository. Types are checked by `npm run lint`. Modules that are there and current stay, so that a run of the
// suite beside this build loses none.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installBuild, installServed } from '../scripts/install.mjs'

// A developer has more than this installed already; somebody who only judges a server needs no more.
installServed()
installBuild()
const root = fileURLToPath(new URL('..', import.meta.url))
const own = join(root, 'conformance')
const target = join(own, 'dist')
const { transform } = createRequire(new URL('../scripts/build/', import.meta.url))('esbuild')

const LEFT_OUT = new Set(['dist', 'mutate', 'reports', 'node_modules'])
const COPIED = [
  'conformance/requirements/requirements.tsv',
  'conformance/package.json',
  'protos/bundle.json',
  'fixtures/sessions',
]

const filesIn = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    : []

/** Sources of the suite, and the generated messages of the server that they import. */
const sources = () => {
  const suite = filesIn(own).filter(
    (path) => path.endsWith('.ts') && !LEFT_OUT.has(relative(own, path).split('/', 1)[0] ?? ''),
  )
  const all = new Set(suite)
  for (const path of all)
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/ from '(\.[^']+)\.js'$/gm))
      all.add(`${resolve(dirname(path), name)}.ts`)
  return [...all]
}

const tsconfigRaw = readFileSync(join(root, 'tsconfig.json'), 'utf8')
const ownMs = statSync(import.meta.filename).mtimeMs
const isCurrent = (made, source) =>
  existsSync(made) && statSync(made).mtimeMs > Math.max(statSync(source).mtimeMs, ownMs)

const made = new Set()
await Promise.all(
  sources().map(async (source) => {
    const module = join(target, relative(root, source).replace(/\.ts$/, '.js'))
    made.add(module)
    if (isCurrent(module, source)) return
    const text = readFileSync(source, 'utf8')
    const { code } = await transform(text, {
      format: 'esm',
      loader: 'ts',
      sourcefile: source,
      target: 'node20.19',
      tsconfigRaw,
    })
    mkdirSync(dirname(module), { recursive: true })
    writeFileSync(module, code)
  }),
)
for (const path of COPIED) {
  const [from, to] = [join(root, path), join(target, path)]
  cpSync(from, to, { recursive: true })
  for (const file of statSync(from).isDirectory() ? filesIn(from) : [from]) made.add(join(to, relative(from, file)))
}
for (const path of filesIn(target)) if (!made.has(path)) rmSync(path)
for (const program of ['main.js', 'record/main.js']) chmodSync(join(target, 'conformance', program), 0o755)
