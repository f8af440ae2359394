/** Faults that are drawn from src/: the same seed and sources give the same ones. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A line, trimmed, that occurs once in its file, and what is put in its place. */
export interface Fault {
  readonly file: string
  readonly line: string
  readonly replacement: string
}

/** Uniform in [0, 1): mulberry32. */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

/** The items in an order that the seed decides. */
export const drawing = (seed: number) => {
  const random = randomOf(seed)
  return <T>(items: readonly T[]): T[] =>
    items
      .map((item) => [random(), item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item)
}

export const sources = (): string[] =>
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path}`)
    .filter((path) => path.endsWith('.ts') && !path.includes('/generated/'))
    .sort()

/** The lines of a file, trimmed, that occur once in it. */
export const singleLines = (file: string): string[] => {
  const lines = readFileSync(join(root, file), 'utf8')
    .split('\n')
    .map((line) => line.trim())
  return lines.filter((line) => line !== '' && lines.indexOf(line) === lines.lastIndexOf(line))
}

export const rowOf = ({ file, line, replacement }: Fault): string => `${file}\t${line}\t${replacement}\n`

/** Whether the file has no error of types with this fault. */
export const typesHold = (() => {
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
