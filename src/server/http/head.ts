import { StatusError } from '../../base/status-error.js'
import type { AnswerRules, HttpAnswer } from '../../http/request.js'
import type { Blob } from '../../stream/blob/blob.js'

/** RFC 9110, 5.6.2, in lower case as HTTP/2 wants it. */
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/
/** RFC 9110, 5.5: nothing that ends a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const VALUE = /^[^\u0000-\u0008\u000a-\u001f\u007f\u0100-\uffff]*$/
/** How long an answer is and what becomes of its connection is the matter of who sends it (RFC 9113, 8.2.2). */
const OURS: ReadonlySet<string> = new Set([
  ...[
    'content-length',
    'transfer-encoding',
    'connection',
    'keep-alive',
    'proxy-connection',
    'upgrade',
    'te',
    'trailer',
  ],
])

/** An answer whose head may be sent over any version of HTTP. Nothing else is ever sent. */
export class CheckedAnswer {
  readonly status: number
  /** Names and values in turn. */
  readonly head: readonly string[]
  readonly body: Blob | undefined

  private constructor({ status, body }: HttpAnswer, head: readonly string[]) {
    this.status = status
    this.head = head
    this.body = body
  }

  /** Throws INTERNAL, and discards the body, if a handler gave what no head may have. `rules`: those of the route. */
  static of(answer: HttpAnswer, rules: AnswerRules | undefined): CheckedAnswer {
    try {
      return new CheckedAnswer(answer, headOf(answer.headers ?? NO_HEADERS, rules))
    } catch (error) {
      answer.body?.discard()
      throw error
    }
  }
}

type Headers = Readonly<Record<string, string>>

const NO_HEADERS: Headers = Object.freeze({})

/** Those that are frozen are constants of a handler: they are checked once for the rules of a route. */
const headOf = (headers: Headers, rules: AnswerRules | undefined): readonly string[] => {
  if (!Object.isFrozen(headers)) return checkedHead(headers, rules)
  const known = heads.get(headers)
  if (known !== undefined && known.rules === rules) return known.head
  const head = checkedHead(headers, rules)
  heads.set(headers, { rules, head })
  return head
}

const heads = new WeakMap<Headers, { readonly rules: AnswerRules | undefined; readonly head: readonly string[] }>()

const checkedHead = (headers: Headers, rules: AnswerRules | undefined): readonly string[] => {
  const head: string[] = []
  for (const name in headers) {
    if (rules !== undefined && Object.hasOwn(rules.headers, name)) continue
    const value = checked(name, headers[name])
    head.push(name, name === 'content-type' ? typeUnder(value, rules) : value)
  }
  if (rules !== undefined) for (const part of headOfRules(rules)) head.push(part)
  return head
}

/** Checked once: rules are constants of routes. */
const headOfRules = (rules: AnswerRules): readonly string[] => {
  const known = headsOfRules.get(rules)
  if (known !== undefined) return known
  const head = Object.entries(rules.headers).flatMap(([name, value]) => [name, checked(name, value)])
  headsOfRules.set(rules, head)
  return head
}

const headsOfRules = new WeakMap<AnswerRules, readonly string[]>()

/** Names that were found right: they are constants of the handlers. */
const goodNames = new Set<string>()
const MAX_GOOD_NAMES = 1_000

const checkName = (name: string): void => {
  if (!NAME.test(name)) throw bad(name, 'the name is no token in lower case')
  if (OURS.has(name)) throw bad(name, 'the server sets it itself')
  if (goodNames.size < MAX_GOOD_NAMES) goodNames.add(name)
}

const checked = (name: string, value: unknown): string => {
  if (!goodNames.has(name)) checkName(name)
  if (typeof value !== 'string') throw bad(name, `the value is ${value === null ? 'null' : typeof value}`)
  if (!VALUE.test(value)) throw bad(name, 'the value has a control character, or one that is not in Latin-1')
  return value
}

const bad = (name: string, why: string): StatusError =>
  new StatusError('INTERNAL', `the header ${JSON.stringify(name.slice(0, 100))} of an answer cannot be sent: ${why}`)

const typeUnder = (type: string, rules: AnswerRules | undefined): string =>
  rules === undefined ||
  rules.contentTypes.has(type) ||
  rules.contentTypes.has(type.replace(/;.*$/s, '').trim().toLowerCase())
    ? type
    : BYTES

const BYTES = 'application/octet-stream'
