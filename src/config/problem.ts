/** An error or a warning about one place of a configuration file. */
export interface Problem {
  readonly severity: 'error' | 'warning'
  readonly file: string
  /** From 1; the position of the value, or of the key if the key is the problem. */
  readonly line: number
  readonly column: number
  /** In the user's form: `stores[2].filesystem.content_path`, or `stores.CAS.filesystem` for the object form. */
  readonly path: string
  /** One sentence: the problem and the value found. */
  readonly message: string
  readonly found?: string
  readonly expected?: string
  /** What the user probably meant. */
  readonly suggestion?: string
}

/** An unusable configuration, with all its problems. */
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
