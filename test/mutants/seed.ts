/**
 * Draws the faults of list.tsv: npx tsx test/mutants/seed.ts [SEED] >test/mutants/list.tsv. The same seed and sources give the same
 * list. A fault changes one line, which occurs once in its file, and the types still hold.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { roomOf } from './rooms.js'

const COUNT = 240
const root = fileURLToPath(new URL('../..', import.meta.url))

/** What replaces what; each of them once a line. */
const OPERATORS: readonly (readonly [RegExp, string])[] = [
  [/ < /, ' <= '],
  [/ <= /, ' < '],
  [/ > /, ' >= '],
  [/ >= /, ' > '],
  [/ === /, ' !== '],
  [/ !== /, ' === '],
  [/ && /, ' || '],
  [/ \|\| /, ' && '],
  [/ \+ 1\b/, ''],
  [/ - 1\b/, ''],
  [/ \+ /, ' - '],
  [/ - /, ' + '],
  [/ \+= /, ' -= '],
  [/\btrue\b/, 'false'],
  [/\bfalse\b/, 'true'],
  [/\bMath\.min\b/, 'Math.max'],
  [/\bMath\.max\b/, 'Math.min'],
  [/\bif \((?=!?[\w.#]+\) )/, 'if (!'],
  [/^await (?=[\w.#]+\(.*\)$)/, 'void '],
  [/^(?:this|[a-z]\w*)(?:\.#?\w+)+\(.*\)$/, 'void 0'],
  [/\.some\(/, '.every('],
  [/\.every\(/, '.some('],
]

/** Lines that do nothing, or whose fault is only in a text. */
const DULL =
  /^(?:import|export (?:type|interface)|\/\/|\/?\*|readonly|case|\}|throw|\||type )|=> \{$|\blog\b|[Ll]og\.|Error\(|`.*\$\{.*`/

/** Uniform in [0, 1): mulberry32. */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

interface Fault {
  readonly file: string
  readonly line: string
  readonly replacement: string
}

const faultsOf = (file: string): Fault[] => {
  const lines = readFileSync(join(root, file), 'utf8')
    .split('\n')
    .map((line) => line.trim())
  return lines
    .filter((line) => line !== '' && !DULL.test(line) && lines.indexOf(line) === lines.lastIndexOf(line))
    .flatMap((line) =>
      OPERATORS.filter(([pattern]) => pattern.test(line)).map(([pattern, put]) => ({
        file,
        line,
        replacement: line.replace(pattern, put),
      })),
    )
}

/** Whether the file has no error of types with this fault. */
const typesHold = (() => {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: ['src'] }, ts.sys, root)
  const changed = new Map<string, string>()
  let version = 0
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [join(root, 'src/cli.ts'), ...changed.keys()],
    getScriptVersion: (path) => (changed.has(path) ? `${version}` : '0'),
    getScriptSnapshot: (path) => {
      const text = changed.get(path) ?? ts.sys.readFile(path)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
  })
  return ({ file, line, replacement }: Fault): boolean => {
    const path = join(root, file)
    changed.clear()
    changed.set(
      path,
      readFileSync(path, 'utf8').replace(line, () => replacement),
    )
    version++
    return service.getSemanticDiagnostics(path).length === 0 && service.getSyntacticDiagnostics(path).length === 0
  }
})()

const random = randomOf(Number(process.argv[2] ?? 1))
const drawn = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => [random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)

const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => `src/${path}`)
  .filter((path) => path.endsWith('.ts') && !path.includes('/generated/'))
  .sort()
const rooms = new Map<string, Fault[]>()
for (const file of files) rooms.set(roomOf(file), [...(rooms.get(roomOf(file)) ?? []), ...faultsOf(file)])

// Each room has its share by the root of its size, so that small rooms have some faults too.
const weight = (faults: readonly Fault[]): number => Math.sqrt(faults.length)
const all = [...rooms.values()].reduce((sum, faults) => sum + weight(faults), 0)
for (const [, faults] of [...rooms].sort(([a], [b]) => (a < b ? -1 : 1))) {
  const share = Math.ceil((COUNT * weight(faults)) / all)
  const lines = new Set<string>()
  for (const fault of drawn(faults)) {
    if (lines.size === share) break
    if (lines.has(`${fault.file} ${fault.line}`) || !typesHold(fault)) continue
    lines.add(`${fault.file} ${fault.line}`)
    process.stdout.write(`${fault.file}\t${fault.line}\t${fault.replacement}\n`)
  }
}
