import { withoutSecrets } from '../../log/secrets.js'

export const HIDDEN = '(hidden)'

/** Options whose value is `NAME=VALUE`, from the environment of the reader's machine or for that of actions. */
const ENVIRONMENTS: ReadonlySet<string> = new Set([
  'client_env',
  'action_env',
  'host_action_env',
  'test_env',
  'repo_env',
  'run_env',
])
/** `--remote_header=NAME=VALUE` and its kin, whatever the part of Bazel. */
const HEADER = /_header$/
const SECRET_OPTION = /password|passwd|secret|credential|token|api_?key|private_?key/i
/** Of variables and of the like. */
const SECRET_NAME = /pass|secret|token|credential|auth|api_?key|private|signature|cookie|session|(^|_)key(_|$)/i
/** Shorter values occur as ordinary words. */
const LEAST_LENGTH = 6
const MAX_VALUES = 500
/** Of a longer value this much is looked for: a regular expression of megabytes is refused. */
const MAX_LENGTH = 16_384
/** Of all values. */
const MAX_CHARACTERS = 262_144

/**
 * Hides secrets of one invocation: the values of options that may hold some, and where else these values occur, for example
 * in the environment that Bazel prints with a failed action.
 */
export class BuildSecrets {
  readonly #values = new Set<string>()
  #pattern: RegExp | undefined
  #characters = 0

  /** An option as it is shown: names stay, values that may be secret do not. */
  option(combined: string): string {
    const [, dashes = '', name = '', value] = /^(-{0,2})([\w-]+)(?:=(.*))?$/s.exec(combined) ?? []
    if (name === '' || value === undefined) return this.hidden(combined)
    const key = name.replaceAll('-', '_')
    const [variable = '', ...rest] = value.split('=')
    const inner = rest.join('=')
    if (ENVIRONMENTS.has(key) && rest.length > 0) {
      if (SECRET_NAME.test(variable)) this.#learn(inner)
      return `${dashes}${name}=${variable}=${HIDDEN}`
    }
    if (HEADER.test(key) && rest.length > 0) {
      this.#learn(inner)
      return `${dashes}${name}=${variable}=${HIDDEN}`
    }
    if (key === 'define' && rest.length > 0 && SECRET_NAME.test(variable)) {
      this.#learn(inner)
      return `${dashes}${name}=${variable}=${HIDDEN}`
    }
    // Not whether credentials are used, nor the path of a file of them.
    if (SECRET_OPTION.test(key) && !/^(true|false|\d*|[~./].*)$/.test(value)) {
      this.#learn(value)
      return `${dashes}${name}=${HIDDEN}`
    }
    return this.hidden(combined)
  }

  /** A named value that a script or a user gave. */
  fact(name: string, value: string): string {
    if (!SECRET_NAME.test(name)) return this.hidden(value)
    this.#learn(value)
    return HIDDEN
  }

  /** A text without the secrets that are known by now, and without those that have a form of their own. */
  hidden(text: string): string {
    const own = this.#known
    const shown = own === undefined ? text : text.replace(own, HIDDEN)
    return withoutSecrets(shown)
  }

  #learn(value: string): void {
    const known = value.slice(0, MAX_LENGTH)
    if (known.length < LEAST_LENGTH || this.#values.size >= MAX_VALUES || this.#values.has(known)) return
    if (this.#characters + known.length > MAX_CHARACTERS) return
    this.#characters += known.length
    this.#values.add(known)
    this.#pattern = undefined
  }

  get #known(): RegExp | undefined {
    if (this.#values.size === 0) return undefined
    // The longest first, because one may begin with another.
    this.#pattern ??= new RegExp(
      [...this.#values]
        .sort((a, b) => b.length - a.length)
        .map((value) => value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
        .join('|'),
      'g',
    )
    return this.#pattern
  }
}
