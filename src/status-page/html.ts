const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

/** A table of text cells. Without rows it shows `none`. */
export const table = (heads: readonly string[], rows: readonly (readonly string[])[], none: string): string => {
  if (rows.length === 0) return `<p class="none">${escaped(none)}</p>`
  const cells = (tag: 'th' | 'td', texts: readonly string[]): string =>
    `<tr>${texts.map((text) => `<${tag}>${escaped(text)}</${tag}>`).join('')}</tr>`
  return `<table><thead>${cells('th', heads)}</thead><tbody>${rows.map((row) => cells('td', row)).join('')}</tbody></table>`
}

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1c2126; background: #fbfbfc; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; background: #fff; }
th, td { text-align: left; padding: .35rem .75rem; border-bottom: 1px solid #e2e5e9; vertical-align: top; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
th { font-weight: 600; color: #58626d; font-size: .85rem; }
.none, .facts { color: #58626d; } .state { padding: .1rem .6rem; border-radius: 1rem; color: #fff; background: #2c7a4b; }
.state.bad { background: #b3261e; } .numbers { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1rem 0 0; padding: 0; list-style: none; }
.numbers li { background: #fff; border: 1px solid #e2e5e9; border-radius: .4rem; padding: .5rem 1rem; min-width: 7rem; }
.numbers b { display: block; font-size: 1.3rem; }
@media (prefers-color-scheme: dark) {
  body { color: #e4e7ea; background: #15181b; } table, .numbers li { background: #1d2125; border-color: #333a41; }
  th, td { border-color: #333a41; } th, .none, .facts { color: #9aa4ae; }
}`

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
