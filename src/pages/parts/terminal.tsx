import { countText } from '../../base/quantities.js'
import { Console, type Line } from '../../builds/detail/console.js'
import { TimeSlices } from '../../work/time-slices.js'
import { numberOf, ODD, PLAIN, saidText } from './said.js'

/** Of the event loop, for the texts of all pages. */
const shared = new TimeSlices(5)
const PART_CHARACTERS = 16_384
/** Of a text. Further characters that cannot be seen are shown as one sign, not as their number, which is 30 times longer. */
const MAX_ODD = 20_000
const REPLACED = '\ufffd'

/** What a terminal shows, as markup in which every text is escaped. */
export interface TerminalText {
  readonly markup: string
  readonly lineCount: number
}

/** What a terminal shows after it printed a text. */
export const printedText = async (text: string, slices = shared): Promise<TerminalText> =>
  terminalText(await printedLines(text, slices), slices)

/** The lines of a terminal after it printed a text. */
export const printedLines = async (text: string, slices = shared): Promise<readonly Line[]> => {
  const terminal = new Console()
  for (let at = 0; at < text.length; at += PART_CHARACTERS) {
    terminal.write(text.slice(at, at + PART_CHARACTERS))
    const pause = slices.step()
    if (pause !== undefined) await pause
  }
  return terminal.lines
}

/** A line as plain text: without colours, and with numbers in place of characters that could deceive. */
export const plainLine = ({ spans }: Line): string => saidText(spans.map(({ text }) => text).join(''))

/**
 * Made outside of the page, which is rendered in one turn of the event loop, because it may have a hundred thousand parts.
 * `placeOf` gives each line a number that is an anchor, `#L12`, and where a click on it leads.
 */
export const terminalText = async (
  lines: readonly Line[],
  slices = shared,
  placeOf?: (at: number) => LinePlace,
): Promise<TerminalText> => {
  const markup = new Markup()
  let since = 0
  for (const [at, line] of lines.entries()) {
    since += markup.add(line, placeOf?.(at))
    if (since < PART_CHARACTERS) continue
    since = 0
    const pause = slices.step()
    if (pause !== undefined) await pause
  }
  return { markup: markup.text, lineCount: lines.length }
}

/** Of a line in a log. */
export interface LinePlace {
  /** Counted from 1. */
  readonly number: number
  /** What is in front of `#L12` in its link; nothing on the page of the line itself. */
  readonly page: string
}

class Markup {
  #odd = 0
  text = ''

  /** Returns how much work it was, in characters. */
  add({ spans, cutCharacters }: Line, place: LinePlace | undefined): number {
    let work = 1
    if (place !== undefined) {
      const name = `L${place.number}`
      // Not for the Tab key: the link to the first error and the search lead to lines.
      this.text += `<a class="place" id="${name}" href="${escaped(place.page)}#${name}" tabindex="-1">${place.number}</a>`
      work += 80
    }
    for (const { text, style } of spans) {
      work += text.length + 16
      const shown = this.#shown(text)
      this.text +=
        style.length === 0 ? shown : `<span class="${style.map((name) => `t-${name}`).join(' ')}">${shown}</span>`
    }
    if (cutCharacters > 0) this.text += `<span class="cut"> … ${countText(cutCharacters)} more characters</span>`
    this.text += '\n'
    return work
  }

  #shown(text: string): string {
    if (!ODD.test(text)) return escaped(text)
    return text
      .split(ODD)
      .map((part, at) => (at % 2 === 0 || PLAIN.test(part) ? escaped(part) : this.#numbered(part)))
      .join('')
  }

  #numbered(character: string): string {
    this.#odd += 1
    return this.#odd > MAX_ODD ? REPLACED : `<span class="odd">${numberOf(character)}</span>`
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character] as string)

interface TerminalParts {
  readonly label: string
  readonly text: TerminalText
  /** Without a scroll bar of its own. */
  readonly isWhole?: boolean
  /** The end matters most: its box shows that first. */
  readonly isAtEnd?: boolean
}

/** What a terminal shows. It can be scrolled with the keyboard. */
export const Terminal = ({ label, text, isWhole = false, isAtEnd = false }: TerminalParts) => {
  const looks = ['terminal', ...(isWhole ? ['whole'] : []), ...(isAtEnd ? ['at-end'] : [])].join(' ')
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who uses a keyboard scrolls it sideways
    <section class={looks} aria-label={saidText(label)} tabIndex={0}>
      <pre dangerouslySetInnerHTML={{ __html: text.markup }} />
    </section>
  )
}
