import { endOfSequence, UNENDED } from './terminal-codes.js'

const [ESC, RETURN, NEWLINE] = [0x1b, 0x0d, 0x0a]

/**
 * The output of a program without the codes that only terminals understand, as it comes: colours and moves of the cursor are
 * left out, and a line that the program drew again stands below what it replaced. The text may be cut anywhere.
 */
export class PlainText {
  /** The begin of a sequence whose end has not come, or a return: at most 64 characters. */
  #rest = ''
  /** A program may return to the begin of a line where it is: no line is empty for that. */
  #isAtStart = true

  take(text: string): string {
    const all = this.#rest + text
    this.#rest = ''
    let plain = ''
    let at = 0
    while (at < all.length) {
      const next = nextCode(all, at)
      plain += this.#kept(all.slice(at, next))
      if (next === all.length) break
      const end = all.charCodeAt(next) === ESC ? endOfSequence(all, next) : endOfReturn(all, next)
      if (end === UNENDED) {
        this.#rest = all.slice(next)
        break
      }
      if (all.charCodeAt(next) === RETURN) {
        plain += all.charCodeAt(next + 1) === NEWLINE || !this.#isAtStart ? '\n' : ''
        this.#isAtStart = true
      }
      at = end
    }
    return plain
  }

  #kept(text: string): string {
    if (text !== '') this.#isAtStart = text.endsWith('\n')
    return text
  }
}

/** One look at each character: a search for each of both could go to the end of the text again and again. */
const nextCode = (text: string, from: number): number => {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === ESC || code === RETURN) return at
  }
  return text.length
}

/** `\r\n` is one end of a line. */
const endOfReturn = (text: string, at: number): number => {
  if (at + 1 === text.length) return UNENDED
  return text.charCodeAt(at + 1) === NEWLINE ? at + 2 : at + 1
}
