import type { ReportDocument } from './document.js'

const LABEL = 'REAPI conformance'
/** About the width of a letter of 11 px, and the room beside a text. */
const [LETTER_PX, BESIDE_PX] = [6.6, 12]

/** What a badge says: rows that hold of those that were judged, and its colour. */
export const badgeOf = ({
  summary,
}: Pick<ReportDocument, 'summary'>): { readonly text: string; readonly colour: string } => {
  const holds = summary.pass + summary.chosen
  const failing = summary.fail + summary.crash + summary.surprise + summary.broken
  const judged = holds + failing + summary.warn + summary.known
  const text = failing > 0 ? `${failing} of ${judged} fail` : `${holds} of ${judged}`
  if (failing > 0) return { text, colour: '#c0392b' }
  return { text, colour: summary.warn + summary.known > 0 ? '#b8860b' : '#2e7d32' }
}

/** A badge as one self-contained SVG. */
export const badgeReport = (document: ReportDocument): string => {
  const { text, colour } = badgeOf(document)
  const [left, right] = [LABEL, text].map((each) => Math.round(each.length * LETTER_PX + BESIDE_PX)) as [number, number]
  const label = `${LABEL}: ${text}`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}">
  <title>${label}</title>
  <rect width="${left}" height="20" fill="#444"/>
  <rect x="${left}" width="${right}" height="20" fill="${colour}"/>
  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
    <text x="${left / 2}" y="14">${LABEL}</text>
    <text x="${left + right / 2}" y="14">${text}</text>
  </g>
</svg>
`
}
