/** Each alert says what to do, and only what cannot wait wakes somebody. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { root } from '../cli/program.js'

const rules = readFileSync(`${root}deploy/observability/alert-rules.yaml`, 'utf8')
const page = readFileSync(`${root}docs/alerts.md`, 'utf8')

const alerts = rules
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((text) => ({
    name: /^\w+/.exec(text)?.[0] ?? '',
    severity: /severity: (\w+)/.exec(text)?.[1] ?? '',
    runbook: /runbook_url: (\S+)/.exec(text)?.[1] ?? '',
    summary: /summary: (.+)/.exec(text)?.[1] ?? '',
  }))

t.test('each alert leads to its section of docs/alerts.md, and each section is of an alert', async (t) => {
  t.ok(alerts.length > 20)
  const sections = [...page.matchAll(/^## (\w+)$/gm)].map(([, name]) => name)
  t.same(
    sections,
    alerts.map(({ name }) => name),
  )
  for (const { name, runbook, summary } of alerts) {
    t.equal(runbook, `docs/alerts.md#${name.toLowerCase()}`)
    t.ok(summary, name)
  }
})

t.test('the page names what wakes somebody, and what nobody is told', async (t) => {
  for (const severity of ['critical', 'info']) {
    const [, , named = ''] = new RegExp(`^\\| \`${severity}\` \\|(.*)\\|(.*)\\|$`, 'm').exec(page) ?? []
    t.same(
      named.split(',').map((name) => name.trim()),
      alerts.filter((alert) => alert.severity === severity).map(({ name }) => name),
      severity,
    )
  }
  t.same([...new Set(alerts.map(({ severity }) => severity))].sort(), ['critical', 'info', 'warning'])
})
