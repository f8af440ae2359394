import { printable } from '../log/log.js'
import { withoutSecretsIn, withSecretsStarred } from './hidden.js'
import type { Problem } from './problem.js'

export type ProblemFormat = 'human' | 'json'

/** Texts of the files by name. Problems of other files are shown without the source line. */
export type Sources = ReadonlyMap<string, string>

/**
 * Formats problems without the secrets of the configuration: for people with source line and caret, for
 * programs as a JSON array. Ends with a newline if there are any.
 */
export const formatProblems = (
  problems: readonly Problem[],
  format: ProblemFormat = 'human',
  sources: Sources = new Map(),
): string => {
  const masked = problems.map(withoutSecretsIn)
  if (format === 'json') return `${JSON.stringify(masked, null, 2)}\n`
  const shown = new Map([...sources].map(([file, text]) => [file, withSecretsStarred(text).split(/\r?\n/)]))
  return masked.map((one) => human(one, shown)).join('\n')
}

const human = (problem: Problem, lines: ReadonlyMap<string, readonly string[]>): string => {
  const { severity, file, line, column, path, message, found, expected, suggestion } = problem
  const shown = [`${file}:${line}:${column}: ${severity}: ${path}: ${message}`]
  const source = lines.get(file)?.[line - 1]
  if (source !== undefined) shown.push(...excerpt(source, line, column))
  if (found !== undefined && !message.includes(found)) shown.push(`  found:    ${found}`)
  if (expected !== undefined) shown.push(`  expected: ${expected}`)
  if (suggestion !== undefined) shown.push(`  did you mean "${suggestion}"?`)
  return `${shown.map(printable).join('\n')}\n`
}

const LONGEST_LINE = 160

/** The source line with a caret under the column. A long line is cut around the column. */
const excerpt = (source: string, line: number, column: number): readonly string[] => {
  const from = source.length <= LONGEST_LINE ? 0 : Math.max(0, column - 1 - LONGEST_LINE / 2)
  const shown = source.slice(from, from + LONGEST_LINE)
  const margin = `${line} | `
  const indent = shown.slice(0, column - 1 - from).replace(/[^\t]/g, ' ')
  return [`  ${margin}${shown}`, `  ${' '.repeat(margin.length - 2)}| ${indent}^`]
}
