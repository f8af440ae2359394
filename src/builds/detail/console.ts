import { endOfSequence, isShown, NO_STYLE, type Style, styled, UNENDED } from './terminal-codes.js'

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
/** Of a line. What follows has the style of the last. */
const MAX_SPANS = 200
/** What a span takes besides its text, in characters. */
const SPAN = 16
const MAX_CHARACTERS = 1024 * 1024
/** A progress display redraws its last lines; no terminal has more. */
const MAX_UP = 200
const [NEWLINE, RETURN, ESC] = [0x0a, 0x0d, 0x1b]

interface GrowingSpan extends Span {
  text: string
  readonly style: readonly string[]
}

interface Growing {
  spans: GrowingSpan[]
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
  #style: Style = NO_STYLE
  #droppedLines = 0
  /** Of all lines, with what their spans take. */
  #characters = 0
  /** The begin of a sequence whose end has not come. */
  #rest = ''

  write(text: string): void {
    const all = this.#rest + text
    this.#rest = ''
    let at = 0
    while (at < all.length) {
      const next = nextControl(all, at)
      if (next > at) this.#put(all, at, next)
      if (next === all.length) return
      const end = this.#control(all, next)
      if (end === UNENDED) {
        this.#rest = all.slice(next)
        return
      }
      at = end
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

  /** Takes one control character or sequence and returns where it ends. */
  #control(all: string, at: number): number {
    const code = all.charCodeAt(at)
    if (code === NEWLINE) {
      this.#newLine()
      return at + 1
    }
    if (code === RETURN) {
      this.#replaces = this.#line.length > 0
      return at + 1
    }
    const end = endOfSequence(all, at)
    if (end !== UNENDED && isShown(all, at, end)) this.#take(all.slice(at + 2, end - 1), all[end - 1])
    return end
  }

  #take(numbers: string, kind: string | undefined): void {
    if (kind === 'm') this.#style = styled(this.#style, numbers)
    else if (kind === 'A') this.#up(Number(numbers || 1))
    else if (kind === 'K' && (this.#replaces || numbers === '2')) this.#erase()
  }

  get #line(): Growing {
    return this.#lines[this.#row] as Growing
  }

  #newLine(): void {
    this.#replaces = false
    this.#row += 1
    if (this.#row === this.#lines.length) this.#lines.push(emptyLine())
    else this.#replaces = this.#line.length > 0
    this.#dropOld()
  }

  #up(lines: number): void {
    this.#row = Math.max(0, this.#row - Math.min(MAX_UP, lines))
    this.#replaces = this.#line.length > 0
  }

  #erase(): void {
    const line = this.#line
    this.#characters -= line.length + SPAN * line.spans.length
    if (line.length > 0) this.#lines[this.#row] = emptyLine()
    this.#replaces = false
  }

  #put(text: string, from: number, to: number): void {
    if (this.#replaces) this.#erase()
    const line = this.#line
    const kept = Math.min(to - from, MAX_LINE - line.length)
    line.cutCharacters += to - from - kept
    if (kept === 0) return
    line.length += kept
    this.#characters += kept
    const last = line.spans.at(-1)
    const piece = text.slice(from, from + kept)
    if (last !== undefined && (last.style === this.#style.names || line.spans.length === MAX_SPANS)) last.text += piece
    else {
      line.spans.push({ text: piece, style: this.#style.names })
      this.#characters += SPAN
    }
  }

  #dropOld(): void {
    if (this.#lines.length <= MAX_LINES + MAX_UP && this.#characters <= MAX_CHARACTERS) return
    const keepsFrom = Math.max(0, this.#lines.length - MAX_UP)
    let drops = 0
    while (drops < keepsFrom && (this.#lines.length - drops > MAX_LINES || this.#characters > MAX_CHARACTERS / 2)) {
      const line = this.#lines[drops]
      if (line !== undefined) this.#characters -= line.length + SPAN * line.spans.length
      drops += 1
    }
    this.#lines.splice(0, drops)
    this.#row = Math.max(0, this.#row - drops)
    this.#droppedLines += drops
  }
}

const nextControl = (text: string, from: number): number => {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === ESC || code === NEWLINE || code === RETURN) return at
  }
  return text.length
}
