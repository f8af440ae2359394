import { HIDDEN, HiddenText } from './hidden-text.js'
import { WordFinder } from './word-finder.js'

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
/** Of a longer value this much is looked for. */
const MAX_LENGTH = 16_384
/** Of all values. */
const MAX_CHARACTERS = 262_144
/** What is read of an option. */
const MAX_OPTION = 32_768

/**
 * Hides secrets of one invocation: the values of options that may hold some, and where else these values occur, for example
 * in the environment that Bazel prints with a failed action.
 */
export class BuildSecrets {
  readonly #values = new Set<string>()
  #finder: WordFinder | undefined
  #characters = 0

  get characters(): number {
    return this.#characters
  }

  /** An option as it is shown: names stay, values that may be secret do not. Of a very long one, its begin. */
  option(whole: string): string {
    const combined = whole.slice(0, MAX_OPTION)
    const { shown, secret } = partsOf(combined)
    if (secret !== undefined) this.#learn(secret)
    return shown ?? this.hidden(combined)
  }

  /** Takes the secret of an option, if it has one. Cheaper than `option`, if many are learned before a text is shown. */
  learnOption(whole: string): void {
    const { secret } = partsOf(whole.slice(0, MAX_OPTION))
    if (secret !== undefined) this.#learn(secret)
  }

  /** A named value that a script or a user gave. */
  fact(name: string, value: string): string {
    if (!SECRET_NAME.test(name)) return this.hidden(value)
    this.#learn(value)
    return HIDDEN
  }

  /** Takes the secret of a named value, if it is one. */
  learnFact(name: string, value: string): void {
    if (SECRET_NAME.test(name)) this.#learn(value)
  }

  /** A text without the secrets that are known by now, and without those that have a form of their own. */
  hidden(text: string): string {
    for (const _ of this.prepare());
    const hiding = this.pieces()
    const shown = hiding.take(text)
    return shown + hiding.end()
  }

  /** For a long text, which comes in pieces. Hides the secrets that were known at the last `prepare`. */
  pieces(): HiddenText {
    return new HiddenText(this.#finder)
  }

  /** Makes the secrets that were learned known to `pieces`. Yields between parts of the work. */
  *prepare(): Generator<void, void, undefined> {
    if (this.#finder === undefined && this.#values.size > 0) this.#finder = yield* WordFinder.of([...this.#values])
  }

  #learn(value: string): void {
    const known = value.slice(0, MAX_LENGTH)
    if (known.length < LEAST_LENGTH || this.#values.size >= MAX_VALUES || this.#values.has(known)) return
    if (this.#characters + known.length > MAX_CHARACTERS) return
    this.#characters += known.length
    this.#values.add(known)
    this.#finder = undefined
  }
}

interface OptionParts {
  /** Undefined if none of it is secret by its name. */
  readonly shown?: string
  readonly secret?: string | undefined
}

const partsOf = (combined: string): OptionParts => {
  const [, dashes = '', name = '', value] = /^(-{0,2})([\w-]+)(?:=(.*))?$/s.exec(combined) ?? []
  if (name === '' || value === undefined) return {}
  const key = name.replaceAll('-', '_')
  const [variable = '', ...rest] = value.split('=')
  const inner = rest.join('=')
  const named = { shown: `${dashes}${name}=${variable}=${HIDDEN}`, secret: inner }
  if (ENVIRONMENTS.has(key) && rest.length > 0) return SECRET_NAME.test(variable) ? named : { shown: named.shown }
  if (HEADER.test(key) && rest.length > 0) return named
  if (key === 'define' && rest.length > 0 && SECRET_NAME.test(variable)) return named
  // Not whether credentials are used, nor the path of a file of them.
  if (SECRET_OPTION.test(key) && !/^(true|false|\d*|[~./].*)$/.test(value))
    return { shown: `${dashes}${name}=${HIDDEN}`, secret: value }
  return {}
}
