import { StatusError } from '../../base/status-error.js'
import { badRequest } from '../../proto/error-details.js'
import type { Qualifier } from '../../proto/generated/build.bazel.remote.asset.v1.js'
import { type Integrity, parseIntegrity } from './integrity.js'

/** The qualifiers of a request (Remote Asset API, Qualifier), parsed. */
export interface Qualifiers {
  /** Those that say which content is meant, in order of their names. Headers are credentials and say nothing of it. */
  readonly identifying: readonly Qualifier[]
  /** `identifying` without the checksum. */
  readonly withoutChecksum: readonly Qualifier[]
  /** The checksum that the content must have. */
  readonly integrity: Integrity | undefined
  /** Names that only pushed content can match. */
  readonly unknown: readonly string[]
  /** Headers to send to the origin of `uris[index]`. Names in lower case. */
  headersFor(index: number, uri: string): ReadonlyMap<string, string>
}

const CHECKSUM = 'checksum.sri'
const CANONICAL_ID = 'bazel.canonical_id'
const AUTH_HEADERS = 'bazel.auth_headers'
const HEADER = 'http_header:'
const HEADER_OF_URI = /^http_header_url:(\d{1,4}):(.+)$/s

const MAX_COUNT = 100
const MAX_TEXT_LENGTH = 64 * 1024

/** Throws INVALID_ARGUMENT for a name that occurs twice, and for malformed values of known names. */
export const parseQualifiers = (qualifiers: readonly Qualifier[], uriCount: number): Qualifiers => {
  if (qualifiers.length > MAX_COUNT)
    throw invalid('qualifiers', `${qualifiers.length} qualifiers, expected at most ${MAX_COUNT}`)
  const names = new Set<string>()
  for (const { name, value } of qualifiers) {
    if (name === '') throw invalid('qualifiers.name', 'a qualifier has no name')
    if (names.has(name)) throw invalid('qualifiers.name', `${shown(name)} occurs twice, expected each name once`)
    if (name.length + value.length > MAX_TEXT_LENGTH)
      throw invalid('qualifiers.value', `${shown(name)} is longer than ${MAX_TEXT_LENGTH} characters`)
    names.add(name)
  }
  const headers = new Headers(qualifiers, uriCount)
  const identifying = qualifiers
    .filter(({ name }) => !isHeader(name))
    .map(({ name, value }) => ({ name, value }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const checksum = identifying.find(({ name }) => name === CHECKSUM)?.value
  return {
    identifying,
    withoutChecksum: identifying.filter(({ name }) => name !== CHECKSUM),
    integrity: checksum === undefined ? undefined : parseIntegrity(checksum),
    unknown: identifying.map(({ name }) => name).filter((name) => name !== CHECKSUM && name !== CANONICAL_ID),
    headersFor: (index, uri) => headers.of(index, uri),
  }
}

/** INVALID_ARGUMENT as the Remote Asset API words it: a server that cannot match a qualifier must refuse the request. */
export const unsupported = (names: readonly string[]): StatusError => {
  const list = names.map(shown).join(', ')
  const message = `qualifiers ${list} are not supported here, expected ${CHECKSUM}, ${CANONICAL_ID} and http_header:NAME`
  const details = [
    badRequest(names.map((name) => ({ field: 'qualifiers.name', description: `${shown(name)} not supported` }))),
  ]
  return new StatusError('INVALID_ARGUMENT', message, { details })
}

const isHeader = (name: string): boolean => name === AUTH_HEADERS || name.startsWith(HEADER) || HEADER_OF_URI.test(name)

/** Headers by what they are for. Those for one URI replace those for all. */
class Headers {
  readonly #ofAll = new Map<string, string>()
  readonly #ofIndex = new Map<number, Map<string, string>>()
  readonly #ofUri: ReadonlyMap<string, ReadonlyMap<string, string>>

  constructor(qualifiers: readonly Qualifier[], uriCount: number) {
    for (const { name, value } of qualifiers) {
      const [, digits = '', header = ''] = HEADER_OF_URI.exec(name) ?? []
      if (digits !== '') {
        const index = Number(digits)
        if (index >= uriCount)
          throw invalid(
            'qualifiers.name',
            `${shown(name)} is for URI ${index}, and there are ${uriCount}, counted from 0`,
          )
        this.#ofIndex.set(index, (this.#ofIndex.get(index) ?? new Map()).set(...checkedHeader(header, value)))
      } else if (name.startsWith(HEADER)) this.#ofAll.set(...checkedHeader(name.slice(HEADER.length), value))
    }
    const older = qualifiers.find(({ name }) => name === AUTH_HEADERS)?.value
    this.#ofUri = older === undefined ? new Map() : headersByUri(older)
  }

  of(index: number, uri: string): ReadonlyMap<string, string> {
    return new Map([...this.#ofAll, ...(this.#ofUri.get(uri) ?? []), ...(this.#ofIndex.get(index) ?? [])])
  }
}

/** The JSON of Bazel up to 7.1: headers by URL, `{"https://host/f": {"Authorization": "..."}}`. */
const headersByUri = (text: string): ReadonlyMap<string, ReadonlyMap<string, string>> => {
  const wrong = (): StatusError =>
    invalid('qualifiers.value', `${AUTH_HEADERS} is not valid, expected JSON: headers by URL`)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw wrong()
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw wrong()
  return new Map(
    Object.entries(parsed).map(([uri, headers]: [string, unknown]) => {
      if (typeof headers !== 'object' || headers === null) throw wrong()
      const pairs = Object.entries(headers).map(([name, value]: [string, unknown]) => {
        if (typeof value !== 'string') throw wrong()
        return checkedHeader(name, value)
      })
      return [uri, new Map(pairs)] as const
    }),
  )
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** Set by the connection, or by this server. */
const RESERVED = new Set([
  ...['accept-encoding', 'connection', 'content-length', 'expect', 'host', 'if-match', 'if-modified-since'],
  ...['if-none-match', 'if-range', 'if-unmodified-since', 'keep-alive', 'proxy-authorization', 'proxy-connection'],
  ...['range', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
])

const checkedHeader = (given: string, value: string): [string, string] => {
  const name = given.toLowerCase()
  if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value))
    throw invalid('qualifiers', `${shown(given)} is no HTTP header, expected a name of letters and a value in one line`)
  if (RESERVED.has(name)) throw invalid('qualifiers.name', `the header ${shown(given)} cannot be set by a client`)
  return [name, value]
}

const shown = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}...` : name)

const invalid = (field: string, description: string): StatusError =>
  new StatusError('INVALID_ARGUMENT', description, { details: [badRequest([{ field, description }])] })
