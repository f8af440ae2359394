import type { Json } from '../session/json-form.js'

/** Replaces values that differ in every run by placeholders: upload ids, operation names, workers, server times. */
export class Placeholders {
  readonly #names = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  applied(form: Json): Json {
    if (Array.isArray(form)) return form.map((each) => this.applied(each))
    if (form === null || typeof form !== 'object') return form
    return Object.fromEntries(Object.entries(form).map(([name, value]) => [name, this.#field(form, name, value)]))
  }

  #field(within: Json, name: string, value: Json): Json {
    if (name === 'resourceName' && typeof value === 'string') {
      return value.replace(
        /(^|\/)uploads\/([^/]+)\//,
        (_, before, id) => `${before}uploads/${this.#name('upload', id)}/`,
      )
    }
    if (name === 'name' && typeof value === 'string' && isOperation(within)) return this.#name('operation', value)
    if (/^(partialE|e)xecutionMetadata$/.test(name)) return this.#executionMetadata(value)
    return this.applied(value)
  }

  #executionMetadata(value: Json): Json {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, field]): [string, Json][] => {
        // Auxiliary metadata holds measurements of the server; no client reads it.
        if (name === 'auxiliaryMetadata') return []
        // An action in the queue has no worker name yet.
        if (name === 'worker') return [[name, field === '' ? '' : this.#name('worker', String(field))]]
        return [[name, /(Timestamp|Duration)$/.test(name) ? '<time>' : this.applied(field as Json)]]
      }),
    )
  }

  #name(kind: string, value: string): string {
    const known = this.#names.get(`${kind} ${value}`)
    if (known !== undefined) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const name = `${kind}-${count}`
    this.#names.set(`${kind} ${value}`, name)
    return name
  }
}

/** Only an Operation and a WaitExecution request carry a name chosen by the server. */
const isOperation = (within: Json): boolean =>
  within !== null &&
  typeof within === 'object' &&
  !Array.isArray(within) &&
  Object.keys(within).every((field) => ['name', 'metadata', 'done', 'response', 'error'].includes(field))
