import type { ComponentChildren } from 'preact'
import { countText } from '../../base/quantities.js'

/** Characters that cannot be seen or that change the order of others (Unicode TR 36), except tab and newline. */
export const ODD =
  /([\p{Cc}\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb])/u
export const PLAIN = /^[\t\n]$/

/** A text from elsewhere: what could deceive a reader is shown as its number. Markup in it is only text, as in all texts. */
export const Said = ({ text, max = 300 }: { readonly text: string; readonly max?: number }) => {
  const cut = text.length - max
  return (
    <bdi>
      {shown(cut > 0 ? text.slice(0, max) : text)}
      {cut > 0 && <Cut characters={cut} />}
    </bdi>
  )
}

const shown = (text: string): ComponentChildren =>
  ODD.test(text)
    ? text.split(ODD).map((part, at) => (at % 2 === 0 || PLAIN.test(part) ? part : <Odd character={part} />))
    : text

/** The same for attributes and titles, which have no markup. */
export const saidText = (text: string): string =>
  text
    .split(ODD)
    .map((part, at) => (at % 2 === 0 ? part : numberOf(part)))
    .join('')

/** Control characters but for tabs and line ends, and marks that turn the direction of text. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** The markup of a page with the numbers of these characters in their place. */
export const withNumbers = (markup: string): string => markup.replaceAll(HIDDEN, numberOf)

export const numberOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

const Odd = ({ character }: { readonly character: string }) => <span class="odd">{numberOf(character)}</span>

const Cut = ({ characters }: { readonly characters: number }) => (
  <span class="cut">{` … ${countText(characters)} more characters`}</span>
)
