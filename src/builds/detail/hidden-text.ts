import { withoutSecrets } from '../../log/secrets.js'
import type { WordFinder } from './word-finder.js'

export const HIDDEN = '(hidden)'

/** A credential without blanks that is longer than this is not seen as one. */
const MAX_HELD = 65_536
/** Not the word before a credential, `Bearer` or `Basic`, without the credential. */
const SCHEME = /\b(?:bearer|basic)\s*$/i
const SCHEME_LENGTH = 64

/** Hides secrets in a text that comes in pieces, also one that two pieces have a part of. */
export class HiddenText {
  readonly #words: HiddenWords | undefined
  #held = ''

  /** Without `finder` there are no secrets but those that have a form of their own. */
  constructor(finder: WordFinder | undefined) {
    this.#words = finder && new HiddenWords(finder)
  }

  /** What can be shown of the text by now. */
  take(piece: string): string {
    this.#held += this.#words?.take(piece) ?? piece
    const end = endOfWords(this.#held)
    const shown = this.#held.slice(0, end)
    this.#held = this.#held.slice(end)
    return withoutSecrets(shown)
  }

  /** The rest of it. */
  end(): string {
    const rest = this.#held + (this.#words?.end() ?? '')
    this.#held = ''
    return withoutSecrets(rest)
  }
}

/** Up to where no credential goes on behind the end: a blank, because none contains one. */
const endOfWords = (text: string): number => {
  let end = text.length
  while (end > 0 && !isBlank(text.charCodeAt(end - 1))) end -= 1
  const [scheme] = SCHEME.exec(text.slice(Math.max(0, end - SCHEME_LENGTH), end)) ?? []
  if (scheme !== undefined) end -= scheme.length
  return end === 0 && text.length > MAX_HELD ? text.length : end
}

const isBlank = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/** Hides words. Those that overlap are hidden as one. */
class HiddenWords {
  readonly #finder: WordFinder
  #node: number
  /** What may be the begin of a word, or is behind the begin of one. */
  #held = ''
  /** Characters at the begin of `#held` that a word before hides. */
  #hidden = 0

  constructor(finder: WordFinder) {
    this.#finder = finder
    this.#node = finder.start
  }

  take(piece: string): string {
    const text = this.#held + piece
    const words = this.#wordsIn(text, this.#held.length)
    return this.#shown(text, words, text.length - this.#finder.depth(this.#node))
  }

  end(): string {
    const rest = this.#held.slice(this.#hidden)
    this.#node = this.#finder.start
    this.#held = ''
    this.#hidden = 0
    return rest
  }

  /** From where to where, in order, none overlapping. */
  #wordsIn(text: string, from: number): { from: number; to: number }[] {
    const finder = this.#finder
    const words: { from: number; to: number }[] = []
    let node = this.#node
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (node === finder.start && !finder.isFirst(code)) continue
      node = finder.next(node, code)
      const length = finder.longest(node)
      if (length === 0) continue
      const word = { from: at + 1 - length, to: at + 1 }
      for (let last = words.at(-1); last !== undefined && last.to > word.from; last = words.at(-1)) {
        word.from = Math.min(word.from, last.from)
        words.pop()
      }
      words.push(word)
    }
    this.#node = node
    return words
  }

  /** `settled`: no word that is still to come begins before it. */
  #shown(text: string, words: readonly { readonly from: number; readonly to: number }[], settled: number): string {
    let shown = ''
    let at = this.#hidden
    for (const { from, to } of words) {
      // One that a hidden one overlaps is hidden with it.
      if (from >= at) shown += text.slice(at, from) + HIDDEN
      at = Math.max(at, to)
    }
    if (at < settled) shown += text.slice(at, settled)
    this.#held = text.slice(settled)
    this.#hidden = Math.max(0, at - settled)
    return shown
  }
}
