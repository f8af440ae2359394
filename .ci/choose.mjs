// Chooses test files, one path a line. Needs no dependency, because .ci/run asks before they are installed.
//
//   node .ci/choose.mjs tests              what `npm test` runs: test/**/*.test.ts
//   node .ci/choose.mjs nightly            all nightly files: test/**/*.nightly.ts
//   node .ci/choose.mjs changed [BASE]     the nightly files that a change since BASE touches, by default the parent of HEAD
//   node .ci/choose.mjs tools FILE...      the variables by which these files find a program that .ci/bring brings
//   node .ci/choose.mjs without-tools FILE...      those of these files that need no such program
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const below = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? below(path) : [path]
    })
    .sort()

const tests = () => below('test').filter((path) => path.endsWith('.test.ts'))
const nightly = () => below('test').filter((path) => path.endsWith('.nightly.ts'))

/** The rooms (folders or files of the repository) whose change runs a nightly file at once. */
const roomsOf = (file) => {
  const rooms = [...readFileSync(file, 'utf8').matchAll(/^\/\/ For changes in: (.*)$/gm)]
    .flatMap(([, list]) => list.split(','))
    .map((room) => room.trim().replace(/\/$/, ''))
    .filter((room) => room !== '')
  if (rooms.length === 0)
    throw new Error(`${file} names no room: it needs a line "// For changes in: src/ROOM, src/ROOM"`)
  const absent = rooms.filter((room) => !existsSync(room))
  if (absent.length > 0) throw new Error(`${file} names rooms that do not exist: ${absent.join(', ')}`)
  return rooms
}

/** The file and the modules below test/ and conformance/ that it imports, directly or not. */
const withImports = (file, found = new Set()) => {
  if (found.has(file) || !existsSync(file)) return found
  found.add(file)
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)\.js'/g)) {
    const module = normalize(join(dirname(file), `${path}.ts`))
    if (!module.startsWith('src/')) withImports(module, found)
  }
  return found
}

const git = (...args) => {
  const { status, stdout, stderr, error } = spawnSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  if (error) throw error
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.trim()}`)
  return stdout.split('\n').filter((line) => line !== '')
}

/** What differs from `base` in the checkout: commits since, and what is not committed yet. */
const changedSince = (base) => [
  ...git('diff', '--name-only', '--no-renames', base, '--'),
  ...git('ls-files', '--others', '--exclude-standard'),
]

const isIn = (room) => (path) => path === room || path.startsWith(`${room}/`)

/** Nightly files of which a room, the file itself or a module of test/ it imports has changed. */
const changed = (base = 'HEAD~1') => {
  const paths = changedSince(base)
  return nightly().filter((file) => {
    const modules = withImports(file)
    return roomsOf(file).some((room) => paths.some(isIn(room))) || paths.some((path) => modules.has(path))
  })
}

/** The variables for which .ci/bring has a program. */
const brought = () =>
  new Set(
    readdirSync('.ci').flatMap((part) => {
      const text = readFileSync(join('.ci', part), 'utf8')
      return [...text.matchAll(/^bring_(REMEXEC_TEST_\w+)\(\)/gm)].map(([, variable]) => variable)
    }),
  )

const toolsOf = (known) => (file) =>
  [...withImports(file)]
    .flatMap((module) => readFileSync(module, 'utf8').match(/\bREMEXEC_TEST_[A-Z0-9_]+/g) ?? [])
    .filter((variable) => known.has(variable))

const tools = (...files) => [...new Set(files.flatMap(toolsOf(brought())))].sort()
const withoutTools = (...files) => {
  const toolsOfFile = toolsOf(brought())
  return files.filter((file) => toolsOfFile(file).length === 0)
}

const choices = { tests, nightly, changed, tools, 'without-tools': withoutTools }
const [choice, ...args] = process.argv.slice(2)
if (!Object.hasOwn(choices, choice ?? '')) {
  console.error(`choose one of ${Object.keys(choices).join(', ')}`)
  process.exit(2)
}
try {
  for (const line of choices[choice](...args)) console.log(line)
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
