/** Something wrong with, or remarkable about, one place of a configuration file. */
export interface Problem {
  readonly severity: 'error' | 'warning'
  readonly file: string
  /** Counted from 1; the place of the value, or of the key when the key is the problem. */
  readonly line: number
  readonly column: number
  /** As the user would write it: `stores[2].filesystem.content_path`, or `stores.CAS.filesystem` in the map form. */
  readonly path: string
  /** One sentence: what is wrong, with the value found. */
  readonly message: string
  readonly found?: string
  readonly expected?: string
  /** What was probably meant. */
  readonly suggestion?: string
}

/** A configuration that cannot be used, with everything that is wrong with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    const [first] = problems
    super(
      first ? `${first.file}:${first.line}:${first.column}: ${first.path}: ${first.message}` : 'wrong configuration',
    )
    this.problems = problems
  }
}
