export type Matches = (text: string) => boolean

/**
 * `*` matches any text of any length; everything else matches itself. Each part is searched once, after the match of
 * the part before. So the time is linear in the length of the text, for any number of stars.
 */
const matcherOf = (pattern: string): Matches => {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return (text) => text === pattern
  return (text) => {
    const endAt = text.length - last.length
    if (endAt < first.length || !text.startsWith(first) || !text.endsWith(last)) return false
    let at = first.length
    for (const part of parts) {
      const foundAt = text.indexOf(part, at)
      if (foundAt < 0) return false
      at = foundAt + part.length
    }
    return at <= endAt
  }
}

/** Whether a text matches one of these patterns. */
export const anyOf = (patterns: readonly string[]): Matches => {
  const matchers = patterns.map(matcherOf)
  return (text) => matchers.some((matches) => matches(text))
}
