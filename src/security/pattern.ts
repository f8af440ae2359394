export type Matches = (text: string) => boolean

/** `*` stands for any text, of any length; all else for itself. */
const matcherOf = (pattern: string): Matches => {
  if (!pattern.includes('*')) return (text) => text === pattern
  const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  const expression = new RegExp(`^${parts.join('[^]*')}$`)
  return (text) => expression.test(text)
}

/** Whether a text fits one of these patterns. */
export const anyOf = (patterns: readonly string[]): Matches => {
  const matchers = patterns.map(matcherOf)
  return (text) => matchers.some((matches) => matches(text))
}
