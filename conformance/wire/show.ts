/** A value as one short line; bytes are shown by their length, long lists by their beginning. */
export const show = (value: unknown): string => {
  const text = JSON.stringify(shortened(value)) ?? String(value)
  return text.length > 600 ? `${text.slice(0, 600)}...` : text
}

const MOST_ENTRIES = 12

/** A shortened copy, because JSON.stringify would print every byte of a blob. */
const shortened = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return `<${value.length} bytes>`
  if (Array.isArray(value)) {
    const first = value.slice(0, MOST_ENTRIES).map(shortened)
    return value.length > MOST_ENTRIES ? [...first, `<${value.length - MOST_ENTRIES} more>`] : first
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]))
}
