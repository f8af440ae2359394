import type { Any } from '../../wire/methods.js'

/** One occurrence of a place in a message. */
export interface Slot {
  readonly value: Any
  /** Its number in the outermost list, from 0; undefined outside of lists. */
  readonly index: number | undefined
  /** The message that has the field, and the field's name; for an entry of a list, the list and its position. */
  readonly owner: Any
  readonly key: string | number
}

/** Every occurrence of a path in a message, in order. A path that ends in `[]` gives the entries of the list. */
export const slotsOf = (message: Any, path: string): Slot[] => {
  let at: Slot[] = [{ value: message, index: undefined, owner: undefined, key: '' }]
  for (const segment of path.split('.')) {
    const isList = segment.endsWith('[]')
    const name = isList ? segment.slice(0, -2) : segment
    at = at.flatMap(({ value, index }): Slot[] => {
      if (value === null || value === undefined) return []
      if (!isList) return [{ value: value[name], index, owner: value, key: name }]
      const list: Any[] = value[name] ?? []
      return list.map((each, position) => ({ value: each, index: index ?? position, owner: list, key: position }))
    })
  }
  return at
}

export const put = ({ owner, key }: Slot, value: Any): void => {
  owner[key] = value
}
