import type { Path } from '../read/path.js'

/** Paths of normalised objects in the file. Objects that are not from the file have the empty path. */
export class Origins {
  readonly #paths = new WeakMap<object, Path>()

  of(value: object): Path {
    return this.#paths.get(value) ?? []
  }

  record<Value extends object>(value: Value, path: Path): Value {
    this.#paths.set(value, path)
    return value
  }
}
