import { costOf, counted, crashLines, isFinding, type ReportDocument, VERDICTS } from './document.js'

const escaped = (text: string): string =>
  text.replaceAll(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll('\0', '?')

type Row = ReportDocument['results'][number]

const STYLE = `
:root { color-scheme: light dark; font: 14px/1.45 system-ui, sans-serif; }
body { margin: 1.5rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { margin-bottom: 0; } p.cost { margin-top: .2rem; opacity: .75; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .15rem .6rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } tbody tr:nth-child(odd) { background: #8881; }
form { position: sticky; top: 0; padding: .6rem 0; background: Canvas; display: flex; flex-wrap: wrap; gap: .3rem .9rem; }
form input[type=search] { flex: 1 1 14rem; font: inherit; padding: .2rem .5rem; }
details.row { border-top: 1px solid #8884; padding: .25rem 0; } details.row[hidden] { display: none; }
summary { cursor: pointer; } summary b { display: inline-block; min-width: 5.5rem; }
.verdict { display: inline-block; min-width: 4.6rem; font-weight: 600; } .level { opacity: .7; }
.fail, .crash, .surprise { color: #c62828; } .warn, .known { color: #b26a00; } .broken { color: #8e24aa; } .pass { color: #2e7d32; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: .4rem 0 .4rem 1.2rem; } dd { margin: 0; }
pre { margin: .2rem 0 .6rem 1.2rem; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px; }
.crashes { border-left: 4px solid #c62828; padding-left: .8rem; }
`

// Runs in the browser: shows the rows that match the filters, and their number.
const SCRIPT = `
const form = document.querySelector('form')
const rows = [...document.querySelectorAll('details.row')]
const apply = () => {
  const data = new FormData(form)
  const verdicts = new Set(data.getAll('verdict'))
  const [section, level] = [data.get('section'), data.get('level')]
  const words = String(data.get('text')).toLowerCase().split(/\\s+/).filter(Boolean)
  let shown = 0
  for (const row of rows) {
    const { verdict, section: of, level: at } = row.dataset
    const text = words.length === 0 ? '' : row.textContent.toLowerCase()
    const fits = verdicts.has(verdict) && (!section || section === of) && (!level || level === at) &&
      words.every((word) => text.includes(word))
    row.hidden = !fits
    if (fits) shown++
  }
  document.querySelector('output').textContent = shown + ' of ' + rows.length + ' rows'
}
form.addEventListener('input', apply)
form.addEventListener('submit', (event) => event.preventDefault())
apply()
`

/** One self-contained HTML file: a table by section, filters, and every call of every row. */
export const htmlReport = (document: ReportDocument): string => {
  const { server, version, settings, examinedAt, results, summary } = document
  const sections = [...new Set(results.map(({ section }) => section))]
  const crashes = crashLines(document)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${escaped(server)}: conformance</title>
<style>${STYLE}</style>
<h1>${escaped([server, version].filter(Boolean).join(' '))}</h1>
<p class="cost">${escaped([costOf(document), examinedAt, ...settings].join(', '))}</p>
${crashes.length === 0 ? '' : `<div class="crashes">${crashes.map((line) => `<p>${escaped(line)}</p>`).join('')}</div>`}
${table(document, sections)}
<form>
<input type="search" name="text" placeholder="words in a row, its requirement or its calls" aria-label="words">
<select name="section" aria-label="section"><option value="">every section</option>${options(sections)}</select>
<select name="level" aria-label="level"><option value="">every level</option>${options(['must', 'should', 'de facto', 'may'])}</select>
${VERDICTS.filter((verdict) => (summary[verdict] ?? 0) > 0)
  .map(
    (verdict) =>
      `<label><input type="checkbox" name="verdict" value="${verdict}" checked> ${verdict} ${summary[verdict]}</label>`,
  )
  .join('\n')}
<output></output>
</form>
${[...results]
  .sort((a, b) => Number(isFinding(b)) - Number(isFinding(a)))
  .map(rowOf)
  .join('\n')}
<script>${SCRIPT}</script>
</html>
`
}

const options = (values: readonly string[]): string =>
  values.map((value) => `<option>${escaped(value)}</option>`).join('')

const table = ({ results }: ReportDocument, sections: readonly string[]): string => {
  const shown = VERDICTS.filter((verdict) => results.some((row) => row.verdict === verdict))
  const cells = (rows: readonly Row[]): string => {
    const counts = counted(rows)
    return shown.map((verdict) => `<td class="${counts[verdict] > 0 ? verdict : ''}">${counts[verdict]}</td>`).join('')
  }
  const line = (name: string, rows: readonly Row[]): string => `<tr><td>${escaped(name)}</td>${cells(rows)}</tr>`
  const lines = sections.map((section) =>
    line(
      section,
      results.filter((row) => row.section === section),
    ),
  )
  return `<table><thead><tr><th>section</th>${shown.map((verdict) => `<th>${verdict}</th>`).join('')}</tr></thead>
<tbody>${lines.join('\n')}</tbody><tfoot>${line('together', results)}</tfoot></table>`
}

const rowOf = (row: Row): string => {
  const {
    id,
    section,
    level,
    verdict,
    reason,
    rpc,
    requirement,
    expected,
    source,
    sends,
    observations,
    clients,
    calls,
  } = row
  const facts: readonly (readonly [string, string])[] = [
    ['requirement', requirement],
    ['accepted', expected],
    ['rests on', source],
    ['method', rpc],
    ['sent', sends],
    ['found', reason],
    ...Object.entries(observations).map(([fact, value]) => ['measured', `${fact} = ${value}`] as const),
    ...clients.map(
      ({ client, fact, accepts, consequence }) =>
        [client, accepts ? `accepts it (${fact})` : `${consequence} (${fact})`] as const,
    ),
  ]
  const told = facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`)
  const transcript = calls.map(({ method, messages, end }) =>
    escaped([method, ...messages.map((each) => `  ${each}`), `  = ${end}`].join('\n')),
  )
  return `<details class="row" data-verdict="${verdict}" data-section="${escaped(section)}" data-level="${level}">
<summary><span class="verdict ${verdict}">${verdict}</span><b>${id}</b> ${escaped(requirement)} <span class="level">${level}</span></summary>
<dl>${told.join('')}</dl>${transcript.length === 0 ? '' : `<pre>${transcript.join('\n')}</pre>`}</details>`
}
