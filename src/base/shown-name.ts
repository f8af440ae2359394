const MAX_LENGTH = 200

/** A name in stored content, for the text of an error. What is no name that a person can read is not shown: it may be any bytes. */
export const shownName = (name: string): string => {
  if (/[\p{C}\p{Zl}\p{Zp}\u{fffd}]/u.test(name)) return '(a name with bytes that are no text)'
  return JSON.stringify(name.length > MAX_LENGTH ? `${name.slice(0, MAX_LENGTH)}...` : name)
}
