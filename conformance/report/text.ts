import type { Result, Verdict } from '../runner.js'

const MARK: Readonly<Record<Verdict, string>> = {
  pass: 'ok  ',
  fail: 'FAIL',
  warn: 'warn',
  chosen: 'info',
  skip: 'skip',
}

/** One line of live progress. */
export const progressLine = ({ requirement, verdict, reason, elapsedMs }: Result): string => {
  const tail = reason === '' ? '' : `: ${reason}`
  return `${MARK[verdict]} ${requirement.id.padEnd(7)} ${requirement.requirement.slice(0, 90)} (${Math.round(elapsedMs)} ms)${tail}\n`
}

/** A table by section, then every finding. */
export const textReport = (results: readonly Result[]): string => {
  const sections = new Map<string, Record<Verdict, number>>()
  for (const { requirement, verdict } of results) {
    const counts = sections.get(requirement.section) ?? { pass: 0, fail: 0, warn: 0, chosen: 0, skip: 0 }
    counts[verdict]++
    sections.set(requirement.section, counts)
  }
  const cells = (counts: Record<Verdict, number>): string =>
    [counts.pass, counts.fail, counts.warn, counts.chosen, counts.skip]
      .map((count) => String(count).padStart(7))
      .join('')
  const rows = [...sections].map(([section, counts]) => `${section.padEnd(34)}${cells(counts)}`)
  const head = `${''.padEnd(34)}${['pass', 'fail', 'warn', 'chosen', 'skip'].map((name) => name.padStart(7)).join('')}`
  const findings = results
    .filter(({ verdict }) => verdict === 'fail' || verdict === 'warn')
    .map(({ requirement, verdict, reason }) => `${MARK[verdict]} ${requirement.id} [${requirement.level}] ${reason}`)
  return [head, ...rows, '', ...findings, ''].join('\n')
}
