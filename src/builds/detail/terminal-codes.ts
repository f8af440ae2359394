/** In place of an end: the sequence goes on behind the text. */
export const UNENDED = -1
/** A sequence that does not end within so many characters is none. */
const MAX_SEQUENCE = 64

const [BELL, ESC] = [0x07, 0x1b]
const code = (character: string): number => character.charCodeAt(0)
const OPENS_NUMBERS = code('[')
const OPENS_TEXT = code(']')
const BACKSLASH = code('\\')
const between = (from: number, value: number, to: number): boolean => value >= from && value <= to

/**
 * Where the sequence ends whose ESC is at `at`: numbers and a final letter, or another sequence that terminals swallow.
 * Behind the ESC if it begins none; UNENDED if the text ends inside of it.
 */
export const endOfSequence = (text: string, at: number): number => {
  const end = endWithin(text, at, Math.min(text.length, at + MAX_SEQUENCE))
  if (end !== UNENDED) return end
  return text.length - at < MAX_SEQUENCE ? UNENDED : at + 1
}

const endWithin = (text: string, at: number, limit: number): number => {
  if (at + 1 >= limit) return UNENDED
  const kind = text.charCodeAt(at + 1)
  if (kind === OPENS_NUMBERS) return endOfNumbers(text, at, limit)
  if (kind === OPENS_TEXT) return endOfText(text, at, limit)
  // Sets of characters: ESC ( or ), and one letter or digit.
  if (kind === 0x28 || kind === 0x29) {
    if (at + 2 >= limit) return UNENDED
    return /[0-9A-Z]/.test(text[at + 2] as string) ? at + 3 : at + 1
  }
  return /[=>78cDEHM]/.test(text[at + 1] as string) ? at + 2 : at + 1
}

/** ESC [, then 0-9 ; ? < = > !, then blank to slash, then the final character. */
const endOfNumbers = (text: string, at: number, limit: number): number => {
  let next = at + 2
  while (next < limit && isParameter(text.charCodeAt(next))) next++
  while (next < limit && between(0x20, text.charCodeAt(next), 0x2f)) next++
  if (next >= limit) return UNENDED
  return between(0x40, text.charCodeAt(next), 0x7e) ? next + 1 : at + 1
}

const isParameter = (value: number): boolean =>
  between(0x30, value, 0x39) || between(0x3b, value, 0x3f) || value === 0x21

/** ESC ], a text, then BEL or ESC \. */
const endOfText = (text: string, at: number, limit: number): number => {
  for (let next = at + 2; next < limit; next++) {
    const value = text.charCodeAt(next)
    if (value === BELL) return next + 1
    if (value !== ESC) continue
    if (next + 1 >= limit) return UNENDED
    return text.charCodeAt(next + 1) === BACKSLASH ? next + 2 : at + 1
  }
  return UNENDED
}

/** Whether the sequence from `at` to `end` is ESC [ with plain numbers and a letter: those that the console obeys. */
export const isShown = (text: string, at: number, end: number): boolean => {
  if (end < at + 3 || text.charCodeAt(at + 1) !== OPENS_NUMBERS) return false
  for (let next = at + 2; next < end - 1; next++) {
    const value = text.charCodeAt(next)
    if (!between(0x30, value, 0x39) && value !== 0x3b) return false
  }
  return /[A-Za-z]/.test(text[end - 1] as string)
}

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

/** What text looks like. There is one object for each: two texts of one style are one span. */
export interface Style {
  readonly names: readonly string[]
  /** What sequences make of it. Bounded, because a client chooses them. */
  readonly next: Map<string, Style>
}

const MAX_NEXT = 64
const styles = new Map<string, Style>()

const styleOf = (names: readonly string[]): Style => {
  const key = names.join(' ')
  const known = styles.get(key)
  if (known !== undefined) return known
  const style = { names, next: new Map<string, Style>() }
  styles.set(key, style)
  return style
}

export const NO_STYLE: Style = styleOf([])

/** The style behind a sequence `ESC [ numbers m`. */
export const styled = (style: Style, numbers: string): Style => {
  const known = style.next.get(numbers)
  if (known !== undefined) return known
  const next = styleOf(namesAfter(style.names, numbers))
  if (style.next.size < MAX_NEXT) style.next.set(numbers, next)
  return next
}

const namesAfter = (style: readonly string[], numbers: string): readonly string[] => {
  const codes = numbers === '' ? [0] : numbers.split(';').map(Number)
  let names = style
  for (let at = 0; at < codes.length; at++) {
    const number = codes[at] ?? 0
    // Colours of a palette of 256 and of any value: the first 16 are those below.
    if (number === 38 || number === 48) {
      const colour = codes[at + 1] === 5 ? (codes[at + 2] ?? 0) : Number.NaN
      at += codes[at + 1] === 5 ? 2 : 4
      if (number === 38 && colour < 16) names = withColour(names, COLOURS[colour % 8])
      continue
    }
    if (number === 0) names = []
    else if (number === 1) names = [...without(names, 'bold'), 'bold']
    else if (number === 4) names = [...without(names, 'underline'), 'underline']
    else if (number === 22) names = without(names, 'bold')
    else if (number === 24) names = without(names, 'underline')
    else if (number === 39) names = withColour(names, undefined)
    else if (number >= 30 && number <= 37) names = withColour(names, COLOURS[number - 30])
    else if (number >= 90 && number <= 97) names = withColour(names, COLOURS[number - 90])
  }
  return names
}

const without = (style: readonly string[], name: string): readonly string[] => style.filter((one) => one !== name)

const withColour = (style: readonly string[], colour: string | undefined): readonly string[] => {
  const others = style.filter((one) => !(COLOURS as readonly string[]).includes(one))
  return colour === undefined ? others : [...others, colour]
}
