import { STYLE } from './style.js'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

/** Markup in which every text from elsewhere is escaped already. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

/** A text of a cell is escaped; markup is not. */
export type Cell = string | Html

/** Longer texts wrap. */
const MAX_LINE_LENGTH = 30

const isLong = (cell: Cell): boolean => typeof cell === 'string' && cell.length > MAX_LINE_LENGTH

const markupOf = (cell: Cell): string => (cell instanceof Html ? cell.markup : escaped(cell))

/** A digest, id or address: may break anywhere, unlike words. */
export const code = (text: string): Html => new Html(`<code>${escaped(text)}</code>`)

/** Text that shows more when pointed at. */
export const titled = (text: string, title: string): Html =>
  new Html(`<span title="${escaped(title)}">${escaped(text)}</span>`)

/** A coloured word: `good`, `warn` or `bad`. */
export const mark = (tone: Tone, text: string): Html => new Html(`<span class="mark ${tone}">${escaped(text)}</span>`)

/** A button that sends a form of this server. */
export const button = (text: string, { target, token }: { readonly target: string; readonly token: string }): Html =>
  new Html(
    `<form method="post" action="${escaped(target)}"><input type="hidden" name="token" value="${escaped(token)}"><button>${escaped(text)}</button></form>`,
  )

export type Tone = 'good' | 'warn' | 'bad'

/** A table, which scrolls if it is wider than the page. Without rows it shows `none`. */
export const table = (heads: readonly string[], rows: readonly (readonly Cell[])[], none: string): string => {
  if (rows.length === 0) return `<p class="none">${escaped(none)}</p>`
  const cells = (tag: 'th' | 'td', texts: readonly Cell[]): string =>
    `<tr>${texts.map((text) => `<${tag}${isLong(text) ? ' class="text"' : ''}>${markupOf(text)}</${tag}>`).join('')}</tr>`
  const body = rows.map((row) => cells('td', row)).join('')
  return `<div class="wide"><table><thead>${cells('th', heads)}</thead><tbody>${body}</tbody></table></div>`
}

export const section = (title: string, content: string): string =>
  `<section><h2>${escaped(title)}</h2>\n${content}</section>`

/** A complete page, which the browser reloads every `refreshS` seconds. */
export const page = (title: string, refreshS: number, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${refreshS}">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`
