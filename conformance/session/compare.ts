import type { Content } from './content.js'
import { isDigestText, type Json } from './json-form.js'
import type { Difference } from './tolerance.js'

type Fields = { readonly [field: string]: Json }

export const fieldsOf = (form: Json | undefined): Fields =>
  form !== null && typeof form === 'object' && !Array.isArray(form) ? (form as Fields) : {}

/**
 * Compares an answer with the recorded one, field by field. A digest that only the server can know is learned at its
 * first occurrence and compared afterwards.
 */
export class Comparison {
  readonly differences: Difference[] = []
  readonly #content: Content

  constructor(content: Content) {
    this.#content = content
  }

  compare(recorded: Json | undefined, actual: Json | undefined, path: string): void {
    if (isDigestText(recorded) && isDigestText(actual)) this.#digest(recorded, actual, path)
    else if (isEmpty(recorded) && isEmpty(actual)) return
    else if (Array.isArray(recorded) || Array.isArray(actual)) {
      this.#list((recorded ?? []) as readonly Json[], (actual ?? []) as readonly Json[], path)
    } else if (isMessage(recorded) && isMessage(actual)) {
      const [a, b] = [fieldsOf(recorded), fieldsOf(actual)]
      for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
        this.compare(a[name], b[name], path === '' ? name : `${path}.${name}`)
      }
    } else {
      const expected = typeof recorded === 'string' ? this.#content.mapped(recorded) : recorded
      if (expected !== actual) this.differs(path, expected, actual)
    }
  }

  differs(path: string, expected: Json | undefined, found: Json | undefined): void {
    this.differences.push({ path, expected, found })
  }

  #digest(recorded: string, actual: string, path: string): void {
    const known = this.#content.isOwn(recorded) ? this.#content.digest(recorded) : this.#content.boundDigest(recorded)
    if (known === undefined) this.#content.bind(recorded, actual)
    else if (known !== actual) this.differs(path, known, actual)
  }

  /** Lists of the protocol are sets: entries are matched by path, name or digest. */
  #list(recorded: readonly Json[], actual: readonly Json[], path: string): void {
    const [a, b] = [this.#keyed(recorded, true), this.#keyed(actual, false)]
    for (const key of new Set([...a.keys(), ...b.keys()])) {
      const at = `${path}[${key}]`
      if (!a.has(key)) this.differs(at, undefined, b.get(key))
      else if (!b.has(key)) this.differs(at, a.get(key), undefined)
      else this.compare(a.get(key), b.get(key), at)
    }
  }

  #keyed(list: readonly Json[], isRecorded: boolean): Map<string, Json> {
    return new Map(
      list.map((entry, index) => {
        const { path, name, digest } = fieldsOf(entry)
        const key = path ?? name ?? digest ?? (isDigestText(entry) ? entry : index)
        const isKnown = isDigestText(key) && isRecorded
        return [isKnown ? this.#content.digest(key) : String(isRecorded ? this.#content.mapped(key) : key), entry]
      }),
    )
  }
}

const isMessage = (form: Json | undefined): boolean => form !== null && typeof form === 'object'

/** A field at its default is not on the wire; a message of such fields equals an absent one. */
const isEmpty = (form: Json | undefined): boolean =>
  form === undefined ||
  form === null ||
  form === 0 ||
  form === false ||
  form === '' ||
  (typeof form === 'object' && Object.values(form).every(isEmpty))
