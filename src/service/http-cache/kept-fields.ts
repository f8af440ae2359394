import type { EntryDetails } from '../../proto/generated/remexec.http.v1.js'

/** Headers of an upload that a download gets back, as fields of the entry: one for each, and no other. */
export type KeptField = 'artifactTag' | 'artifactDuration' | 'artifactSha' | 'artifactDirtyHash'

export type KeptFields = Readonly<Partial<Record<KeptField, string>>>

/** Of most entries. */
export const NO_FIELDS: KeptFields = Object.freeze({})

interface Header {
  readonly name: string
  readonly pattern: RegExp
  readonly expected: string
}

const TEXT = { pattern: /^[\x21-\x7e]{1,1024}$/, expected: 'up to 1024 visible characters of ASCII' }

/** No header here may change how a browser or a proxy reads the answer. */
const HEADERS: Readonly<Record<KeptField, Header>> = {
  artifactTag: { name: 'x-artifact-tag', ...TEXT },
  artifactDuration: { name: 'x-artifact-duration', pattern: /^\d{1,15}$/, expected: 'milliseconds in digits' },
  artifactSha: { name: 'x-artifact-sha', ...TEXT },
  artifactDirtyHash: { name: 'x-artifact-dirty-hash', ...TEXT },
}

export const KEPT_FIELDS = Object.keys(HEADERS) as KeptField[]

interface Read {
  readonly fields: KeptFields
  /** The first header whose value is none. */
  readonly fault: { readonly name: string; readonly expected: string } | undefined
}

/** The fields in headers; those that are wrong are left out. */
export const fieldsIn = (headerOf: (name: string) => unknown, kept: readonly KeptField[] = KEPT_FIELDS): Read => {
  const fields: Partial<Record<KeptField, string>> = {}
  let fault: Read['fault']
  for (const field of kept) {
    const { name, pattern, expected } = HEADERS[field]
    const value = headerOf(name)
    if (value === undefined || value === '') continue
    if (typeof value === 'string' && pattern.test(value)) fields[field] = value
    else fault ??= { name, expected }
  }
  return { fields, fault }
}

/** The headers of an answer. What a store returns is checked again: only what `fieldsIn` takes is sent. */
export const headersOf = (fields: KeptFields): Record<string, string> =>
  Object.fromEntries(
    KEPT_FIELDS.flatMap((field) => {
      const { [field]: value = '' } = fields
      const { name, pattern } = HEADERS[field]
      return pattern.test(value) ? [[name, value]] : []
    }),
  )

/** Of a decoded entry. */
export const fieldsOf = (details: EntryDetails): KeptFields =>
  Object.fromEntries(KEPT_FIELDS.flatMap((field) => (details[field] === '' ? [] : [[field, details[field]]])))
