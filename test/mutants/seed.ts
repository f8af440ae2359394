/**
 * Draws the faults of list.tsv: npx tsx test/mutants/seed.ts [SEED] >test/mutants/list.tsv. The same seed and sources give the same
 * list. A fault changes one line, which occurs once in its file, and the types still hold.
 */
import { drawing, type Fault, rowOf, singleLines, sources, typesHold } from './draw.js'
import { roomOf } from './rooms.js'

const COUNT = 240
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

const faultsOf = (file: string): Fault[] =>
  singleLines(file)
    .filter((line) => !DULL.test(line))
    .flatMap((line) =>
      OPERATORS.filter(([pattern]) => pattern.test(line)).map(([pattern, put]) => ({
        file,
        line,
        replacement: line.replace(pattern, put),
      })),
    )

const drawn = drawing(Number(process.argv[2] ?? 1))
const rooms = new Map<string, Fault[]>()
for (const file of sources()) rooms.set(roomOf(file), [...(rooms.get(roomOf(file)) ?? []), ...faultsOf(file)])

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
    process.stdout.write(rowOf(fault))
  }
}
