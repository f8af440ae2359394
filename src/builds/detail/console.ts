/** A piece of a line with one style. */
export interface Span {
  readonly text: string
  /** Names such as `bold` and `red`; empty for plain text. */
  readonly style: readonly string[]
}

export interface Line {
  readonly spans: readonly Span[]
  /** Characters behind those in `spans`. */
  readonly cutCharacters: number
}

const MAX_LINE = 4000
const MAX_LINES = 4000
const MAX_CHARACTERS = 1024 * 1024
/** A progress display redraws its last lines; no terminal has more. */
const MAX_UP = 200
/** A sequence that does not end within so many characters is none. */
const MAX_SEQUENCE = 64

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

interface Growing {
  spans: { text: string; style: readonly string[] }[]
  length: number
  cutCharacters: number
}

const emptyLine = (): Growing => ({ spans: [], length: 0, cutCharacters: 0 })

/**
 * What a terminal shows after the output of a program: colours, and lines that the program drew again. Only the last lines
 * are kept, and of a long line its begin.
 */
export class Console {
  #lines: Growing[] = [emptyLine()]
  #row = 0
  /** The cursor is at the begin of a line that has text: what is written now replaces it. */
  #replaces = false
  #style: readonly string[] = []
  #droppedLines = 0
  #characters = 0
  /** The begin of a sequence whose end has not come. */
  #rest = ''

  write(text: string): void {
    const all = this.#rest + text
    this.#rest = ''
    let at = 0
    while (at < all.length) {
      const next = nextControl(all, at)
      if (next > at) this.#put(all.slice(at, next))
      if (next === all.length) return
      const taken = this.#control(all, next)
      if (taken === 0) {
        this.#rest = all.slice(next)
        return
      }
      at = next + taken
    }
  }

  /** Lines that were dropped in front of those in `lines`. */
  get droppedLines(): number {
    return this.#droppedLines
  }

  get lines(): readonly Line[] {
    const lines = this.#lines.map(({ spans, cutCharacters }) => ({ spans, cutCharacters }))
    while (lines.length > 0 && lines.at(-1)?.spans.length === 0) lines.pop()
    return lines
  }

  /** Takes one control character or sequence and returns its length; 0 if its end is still to come. */
  #control(all: string, at: number): number {
    const character = all[at]
    if (character === '\n') return this.#newLine()
    if (character === '\r') {
      this.#replaces = this.#line.length > 0
      return 1
    }
    const sequence = SEQUENCE.exec(all.slice(at, at + MAX_SEQUENCE))
    if (sequence === null) return all.length - at < MAX_SEQUENCE && UNENDED.test(all.slice(at)) ? 0 : 1
    const [whole, numbers = '', kind] = sequence
    if (kind === 'm') this.#style = styled(this.#style, numbers)
    else if (kind === 'A') this.#up(Number(numbers || 1))
    else if (kind === 'K' && (this.#replaces || numbers === '2')) this.#erase()
    return whole.length
  }

  get #line(): Growing {
    return this.#lines[this.#row] as Growing
  }

  #newLine(): number {
    this.#replaces = false
    this.#row += 1
    if (this.#row === this.#lines.length) this.#lines.push(emptyLine())
    else this.#replaces = this.#line.length > 0
    this.#dropOld()
    return 1
  }

  #up(lines: number): void {
    this.#row = Math.max(0, this.#row - Math.min(MAX_UP, lines))
    this.#replaces = this.#line.length > 0
  }

  #erase(): void {
    this.#characters -= this.#line.length
    this.#lines[this.#row] = emptyLine()
    this.#replaces = false
  }

  #put(text: string): void {
    if (this.#replaces) this.#erase()
    const line = this.#line
    const room = MAX_LINE - line.length
    const kept = text.length > room ? text.slice(0, room) : text
    line.cutCharacters += text.length - kept.length
    if (kept === '') return
    line.length += kept.length
    this.#characters += kept.length
    const last = line.spans.at(-1)
    if (last !== undefined && last.style === this.#style) last.text += kept
    else line.spans.push({ text: kept, style: this.#style })
  }

  #dropOld(): void {
    if (this.#lines.length <= MAX_LINES + MAX_UP && this.#characters <= MAX_CHARACTERS) return
    const keepsFrom = Math.max(0, this.#lines.length - MAX_UP)
    let drops = 0
    while (drops < keepsFrom && (this.#lines.length - drops > MAX_LINES || this.#characters > MAX_CHARACTERS / 2)) {
      this.#characters -= this.#lines[drops]?.length ?? 0
      drops += 1
    }
    this.#lines.splice(0, drops)
    this.#row = Math.max(0, this.#row - drops)
    this.#droppedLines += drops
  }
}

const ESC = '\u001b'
const BELL = '\u0007'
const STRING = `[^${BELL}${ESC}]*`
/** CSI with numbers and a final letter; and other sequences that terminals swallow. */
const SEQUENCE = new RegExp(
  [
    String.raw`^(?:${ESC}\[([0-9;]*)([A-Za-z])`,
    String.raw`${ESC}\[[0-9;?<=>!]*[ -/]*[@-~]`,
    String.raw`${ESC}\]${STRING}(?:${BELL}|${ESC}\\)`,
    `${ESC}[()][0-9A-Z]`,
    `${ESC}[=>78cDEHM])`,
  ].join('|'),
)
const UNENDED = new RegExp(String.raw`^${ESC}(?:\[[0-9;?<=>!]*[ -/]*|\]${STRING}|[()])?$`)

const nextControl = (text: string, from: number): number => {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x1b || code === 0x0a || code === 0x0d) return at
  }
  return text.length
}

const styled = (style: readonly string[], numbers: string): readonly string[] => {
  const codes = numbers === '' ? [0] : numbers.split(';').map(Number)
  let names = style
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    // Colours of a palette of 256 and of any value: the first 16 are those below.
    if (code === 38 || code === 48) {
      const colour = codes[at + 1] === 5 ? (codes[at + 2] ?? 0) : Number.NaN
      at += codes[at + 1] === 5 ? 2 : 4
      if (code === 38 && colour < 16) names = withColour(names, COLOURS[colour % 8])
      continue
    }
    if (code === 0) names = NO_STYLE
    else if (code === 1) names = [...without(names, 'bold'), 'bold']
    else if (code === 4) names = [...without(names, 'underline'), 'underline']
    else if (code === 22) names = without(names, 'bold')
    else if (code === 24) names = without(names, 'underline')
    else if (code === 39) names = withColour(names, undefined)
    else if (code >= 30 && code <= 37) names = withColour(names, COLOURS[code - 30])
    else if (code >= 90 && code <= 97) names = withColour(names, COLOURS[code - 90])
  }
  return names
}

const NO_STYLE: readonly string[] = []

const without = (style: readonly string[], name: string): readonly string[] => style.filter((one) => one !== name)

const withColour = (style: readonly string[], colour: string | undefined): readonly string[] => {
  const others = style.filter((one) => !(COLOURS as readonly string[]).includes(one))
  return colour === undefined ? others : [...others, colour]
}
