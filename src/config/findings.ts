import type { Problem } from './problem.js'
import type { Document } from './read/document.js'
import { type Path, pathKey, pathText } from './read/path.js'
import { hidden } from './secrets.js'

export interface FindingDetails {
  readonly found?: string
  readonly expected?: string | undefined
  readonly suggestion?: string | undefined
  /** Report the position of the key instead of the value. */
  readonly at?: 'key' | 'value'
}

/** The findings of each severity that are listed. More are counted. */
const LISTED_MAX = 100

/** Collects the findings of one document, with their positions. */
export class Findings {
  readonly #file: string
  readonly #document: Document
  readonly #problems: Problem[] = []
  readonly #more = { error: 0, warning: 0 }
  readonly #listed = { error: 0, warning: 0 }
  readonly #wrongPaths = new Set<string>()
  #secrets: readonly string[] = []

  constructor(file: string, document: Document) {
    this.#file = file
    this.#document = document
  }

  /** Masks these secrets in every finding. */
  hide(secrets: readonly string[]): void {
    this.#secrets = secrets
  }

  error(path: Path, message: string, details: FindingDetails = {}): void {
    this.#wrongPaths.add(pathKey(path))
    this.#add('error', path, message, details)
  }

  warning(path: Path, message: string, details: FindingDetails = {}): void {
    this.#add('warning', path, message, details)
  }

  /** Marks the value as unusable; its error was reported elsewhere. */
  markWrong(path: Path): void {
    this.#wrongPaths.add(pathKey(path))
  }

  /** Whether the value at exactly this path is unusable. */
  isWrong(path: Path): boolean {
    return this.#wrongPaths.has(pathKey(path))
  }

  get hasErrors(): boolean {
    return this.#wrongPaths.size > 0
  }

  /** In the order of the file; at the end, how many more there are of each severity. */
  all(): readonly Problem[] {
    const listed = this.#problems.toSorted((a, b) => a.line - b.line || a.column - b.column)
    return [...listed, ...this.#rest('error'), ...this.#rest('warning')]
  }

  #rest(severity: Problem['severity']): readonly Problem[] {
    const count = this.#more[severity]
    if (count === 0) return []
    const message = `and ${count} more ${severity}${count === 1 ? '' : 's'}, which are not listed`
    return [{ severity, file: this.#file, line: 1, column: 1, path: '(the whole file)', message }]
  }

  #add(severity: Problem['severity'], path: Path, message: string, details: FindingDetails): void {
    if (this.#listed[severity] === LISTED_MAX) {
      this.#more[severity]++
      return
    }
    this.#listed[severity]++
    const { line, column } = this.#document.positionOf(path, details.at)
    const { found, expected, suggestion } = details
    this.#problems.push({
      severity,
      file: this.#file,
      line,
      column,
      path: pathText(path),
      message: hidden(message, this.#secrets),
      ...(found !== undefined && { found: hidden(found, this.#secrets) }),
      ...(expected !== undefined && { expected }),
      ...(suggestion !== undefined && { suggestion }),
    })
  }
}
