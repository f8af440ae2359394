/**
 * Draws faults of asynchrony: npx tsx test/mutants/asynchrony.ts [SEED [COUNT]] >FILE. In each an `await` is removed, or the event of a
 * listener becomes one that never comes. As many of each kind, and at most one of a file. The types still hold.
 */
import { drawing, type Fault, rowOf, singleLines, sources, typesHold } from './draw.js'

const [seed = 1, count = 20] = process.argv.slice(2).map(Number)

/** In comments they do nothing; imports on demand are awaited for their types. */
const DULL = /^(?:\/\/|\/?\*)|await import\(/

const REMOVED: readonly (readonly [pattern: RegExp, put: string])[] = [
  [/\bawait (?!\w+\()/, ''],
  [/\bawait (?=\w+\()/, ''],
  [/(?<=\.(?:on|once|addEventListener)\(')(?=[\w:]+',)/, 'never '],
]

const AWAITS = /\bawait /

const faultsOf = (file: string): Fault[] =>
  singleLines(file)
    .filter((line) => !DULL.test(line))
    .flatMap((line) =>
      REMOVED.filter(([pattern]) => pattern.test(line)).map(([pattern, put]) => ({
        file,
        line,
        replacement: line.replace(pattern, put),
      })),
    )

const drawn = drawing(seed)
const all = drawn(sources().flatMap(faultsOf))
const isAwait = ({ line, replacement }: Fault): boolean =>
  line.split(AWAITS).length !== replacement.split(AWAITS).length
const files = new Set<string>()
for (const isOfKind of [isAwait, (fault: Fault) => !isAwait(fault)]) {
  let left = count / 2
  for (const fault of all.filter(isOfKind)) {
    if (left <= 0) break
    if (files.has(fault.file) || !typesHold(fault)) continue
    files.add(fault.file)
    left--
    process.stdout.write(rowOf(fault))
  }
}
