import { diffArrays } from 'diff'

export interface ListEdit {
  readonly kind: 'same' | 'removed' | 'added'
  readonly items: readonly string[]
}

/** How one list of texts became another. */
export interface ListDifference {
  readonly edits: readonly ListEdit[]
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/** Lists that differ in more are compared as a whole, because the time grows with the square. */
const MAX_EDITS = 1000

/** Undefined if the lists are equal. */
export const compareLists = (before: readonly string[], now: readonly string[]): ListDifference | undefined => {
  if (before.length === now.length && before.every((item, index) => item === now[index])) return undefined
  const found = diffArrays([...before], [...now], { maxEditLength: MAX_EDITS })
  const edits: ListEdit[] =
    found === undefined
      ? [
          { kind: 'removed', items: before },
          { kind: 'added', items: now },
        ]
      : found.map(({ removed, added, value }) => ({
          kind: removed ? 'removed' : added ? 'added' : 'same',
          items: value,
        }))
  const itemsOf = (kind: ListEdit['kind']): string[] =>
    edits.filter((edit) => edit.kind === kind).flatMap(({ items }) => items)
  return { edits, removed: itemsOf('removed'), added: itemsOf('added') }
}
