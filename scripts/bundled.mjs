// Libraries that dist/ contains, by scripts/build/package.json. As packages of their own they would be 40 MB in each installation: source
// maps, types, a form for browsers, and libraries of which no function is called. All others stay dependencies of the package.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'scripts/build')
const read = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** Required by functions of grpc-js that remexec does not call. It would bring a second protobufjs. */
const NOT_CALLED = new Set(['@grpc/proto-loader'])

const nameOf = (path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path

/** Those of package.json that tests and types use must be the same. */
const checkVersions = (bundled, { devDependencies }) => {
  for (const [name, version] of Object.entries(bundled)) {
    if (name === 'esbuild' || devDependencies[name] === version) continue
    throw new Error(`${name} is ${version} in scripts/build/package.json, and ${devDependencies[name]} in package.json`)
  }
}

/** Library to its folder: what the parts of dist/ contain. */
const containedIn = ({ inputs }) => {
  const found = new Map()
  for (const path of Object.keys(inputs)) {
    const [, at, name] = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(path) ?? []
    if (at !== undefined) found.set(at, name)
  }
  return [...found].sort()
}

const licensesOf = (libraries) => {
  const users = new Map()
  for (const [at, name] of libraries) {
    const { version, license } = read(join(root, at, 'package.json'))
    const files = readdirSync(join(root, at)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
    const text = files.map((file) => readFileSync(join(root, at, file), 'utf8').trim()).join('\n\n')
    if (text === '') throw new Error(`${at} has no file with its licence (${license})`)
    users.set(text, [...(users.get(text) ?? []), `${name} ${version} (${license})`])
  }
  return [...users].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`).join(`\n${'-'.repeat(80)}\n\n`)
}

/** The licences of libraries in the output of the build. */
export const LICENSES = 'licenses.txt'

export const bundledLibraries = () => {
  const manifest = read(join(root, 'package.json'))
  const { dependencies: bundled } = read(join(folder, 'package.json'))
  checkVersions(bundled, manifest)
  const { dependencies, optionalDependencies, peerDependencies } = manifest
  const installed = new Set(Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
  const own = {}
  const plugin = {
    name: 'bundled',
    setup: (build) =>
      build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, pluginData }) => {
        if (pluginData === own || isBuiltin(path) || kind === 'entry-point') return undefined
        const name = nameOf(path)
        if (installed.has(name) || NOT_CALLED.has(name)) return { path, external: true }
        if (importer.includes('/node_modules/')) return undefined
        if (!Object.hasOwn(bundled, name))
          throw new Error(
            `${importer} imports ${name}, which neither package.json nor scripts/build/package.json names`,
          )
        // Those of the lock file beside that manifest, whatever else a checkout has.
        return build.resolve(path, { kind, resolveDir: folder, pluginData: own })
      }),
  }
  /** After the build into the folder `outdir`. */
  const finish = (metafile, outdir) => {
    for (const path of Object.keys(metafile.outputs).filter((path) => path.endsWith('.js'))) {
      const text = readFileSync(join(root, path), 'utf8')
      // Libraries that are CommonJS require modules of Node.
      if (!text.includes('var __require = ')) continue
      const start =
        "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url); "
      writeFileSync(
        join(root, path),
        text.replace(/^(#!.*\n)?/, (shebang) => `${shebang}${start}`),
      )
    }
    writeFileSync(join(root, outdir, LICENSES), licensesOf(containedIn(metafile)))
  }
  return { plugin, finish }
}
