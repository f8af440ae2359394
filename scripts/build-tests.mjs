// .built/ from src/, test/, conformance/ and bench/: each source becomes one module, so that no test file has to be compiled when it
// starts, and tests and benches import what they are about. dist/ has the same code in few files.
// Types are checked by `npm run lint`, not here.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, '.built')
const FOLDERS = ['src', 'test', 'conformance', 'bench']

/** Where the module of a source is: a path relative to the checkout. */
export const builtOf = (source) => join('.built', source.replace(/\.tsx?$/, '.js'))

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))

/**
 * tap as one module, found by every test in .built/: each of some 300 files then loads it with half the CPU. It lies in a folder
 * named as tap's own packages, because tap leaves these out of stacks.
 */
const buildTap = async (build) => {
  const folder = join(target, 'node_modules')
  const whole = join(folder, '@tapjs', 'whole.js')
  const [entry, facts] = [join(folder, 'tap', 'index.js'), join(folder, 'tap', 'package.json')]
  const own = join(root, 'node_modules', 'tap')
  const [start, domain, module] = ['entry', 'domain', 'module'].map((name) => join(root, 'scripts/tap', `${name}.mjs`))
  const { version } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'))
  const text = JSON.stringify({ version, type: 'module', exports: './index.js' })
  if (
    existsSync(facts) &&
    readFileSync(facts, 'utf8') === text &&
    [import.meta.filename, start, domain, module].every((path) => statSync(facts).mtimeMs > statSync(path).mtimeMs)
  )
    return [whole, entry, facts]
  await build({
    entryPoints: [start],
    outfile: whole,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    alias: { 'async-hook-domain': domain, module },
    // Loaded by tap if a test compares elements.
    external: ['react-element-to-jsx-string'],
    banner: { js: "import { createRequire as of } from 'node:module'; const require = of(import.meta.url);" },
    logLevel: 'error',
  })
  mkdirSync(dirname(entry), { recursive: true })
  writeFileSync(entry, "export * from '../@tapjs/whole.js'\nexport { default } from '../@tapjs/whole.js'\n")
  writeFileSync(facts, text)
  return [whole, entry, facts]
}

/** Compiles all of them. Throws with the file and the line if one cannot be compiled. */
export const buildTests = async () => {
  const { build, transform } = createRequire(new URL('build/', import.meta.url))('esbuild')
  const tsconfigRaw = readFileSync(join(root, 'tsconfig.json'), 'utf8')
  const stamp = join(target, 'root')
  // Modules hold paths: those of a checkout that was moved are compiled again.
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== root) rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  writeFileSync(stamp, root)
  const built = new Set([stamp])
  // Older modules were compiled otherwise.
  const ownMs = Math.max(...[import.meta.filename, join(root, 'tsconfig.json')].map((path) => statSync(path).mtimeMs))
  const sources = FOLDERS.flatMap((folder) => filesIn(join(root, folder))).filter(
    (path) => /\.tsx?$/.test(path) && !path.includes('/node_modules/'),
  )
  await Promise.all(
    sources.map(async (path) => {
      const module = join(root, builtOf(relative(root, path)))
      built.add(module)
      if (existsSync(module) && statSync(module).mtimeMs > Math.max(statSync(path).mtimeMs, ownMs)) return
      const { code } = await transform(readFileSync(path, 'utf8'), {
        // Paths of fixtures and programs are relative to the source. The server finds its own.
        define: path.startsWith(join(root, 'src/'))
          ? {}
          : { 'import.meta.url': JSON.stringify(pathToFileURL(path).href) },
        format: 'esm',
        loader: extname(path).slice(1),
        sourcefile: path,
        sourcemap: 'inline',
        sourcesContent: false,
        target: 'node20.19',
        tsconfigRaw,
      })
      mkdirSync(dirname(module), { recursive: true })
      writeFileSync(module, code)
    }),
  )
  for (const module of await buildTap(build)) built.add(module)
  for (const path of filesIn(target)) if (!built.has(path)) rmSync(path)
}
