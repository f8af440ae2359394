import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { checks } from '../../../conformance/checks/all.js'
import { readReport, readReports } from '../../../conformance/report/document.js'
import { serverTable } from '../../../conformance/report/markdown.js'
import { failedMusts, mustsPage } from '../../../conformance/report/musts.js'
import { profiles } from '../../../conformance/requirements/profiles.js'
import { NO_MUSTS, readings } from '../../../conformance/requirements/readings.js'
import { requirements } from '../../../conformance/requirements/requirements.js'
import { unobservable } from '../../../conformance/requirements/unobservable.js'
import { readExpectations } from '../../../conformance/run/expectations.js'
import { sessions } from '../../../conformance/session/session-checks.js'

t.test('every row of the table is checked once, or listed as out of reach', async (t) => {
  const ids = checks.map(({ id }) => id)
  t.same(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
    'checked twice',
  )
  const covered = new Set([...ids, ...unobservable.keys()])
  t.same(
    [...requirements.keys()].filter((id) => !covered.has(id)),
    [],
    'neither checked nor listed',
  )
  t.same(
    [...covered].filter((id) => !requirements.has(id)),
    [],
    'not in the table',
  )
  t.same(
    ids.filter((id) => unobservable.has(id)),
    [],
    'both checked and listed',
  )
  t.ok(ids.length >= 300, `${ids.length} checks`)
})

/** A file of the protocols, a standard, the description that a build tool publishes, or a note that there is none. */
const SOURCE =
  /^(no text\b|[a-z_0-9A-Z -]+\.(proto|md)\b|proto3 |RFC \d+|(Nx|Vercel)\b[^:]*, OpenAPI:|(Bazel, remote caching|Gradle, build cache):)/

t.test('every row says which text it rests on, and a must row that there is one', async (t) => {
  for (const { id, level, source } of requirements.values()) {
    t.match(source, SOURCE, id)
    if (level === 'must') t.notMatch(source, /^no text/, `${id} is must`)
  }
})

t.test('each check describes its requests in one sentence', async (t) => {
  for (const { id, sends } of checks) t.match(sends, /^[^\n]{15,130}[.]$/, id)
})

t.test('clients are profiled on rows that are checked', async (t) => {
  for (const { id, client, fact } of profiles)
    t.ok(
      checks.some((check) => check.id === id),
      `${client}: ${id} ${fact}`,
    )
})

t.test('the table of judged servers is that of the reports', async (t) => {
  const folder = new URL('../../../conformance/reports/', import.meta.url)
  const documents = readReports(folder)
  const small = readReports(new URL('small-store/', folder))
  t.ok(documents.length >= 1 && small.length >= 1)
  t.equal(
    readFileSync(new URL('README.md', folder), 'utf8'),
    serverTable(documents, small),
    'npm run conformance:table',
  )
  t.equal(readFileSync(new URL('musts.md', folder), 'utf8'), mustsPage(documents), 'npm run conformance:table')
})

t.test('each must that a judged server failed was read again, and is a must still or has a reason why not', (t) => {
  const documents = readReports(new URL('../../../conformance/reports/', import.meta.url))
  const failed = new Set(failedMusts(documents).map(({ id }) => id))
  t.same(
    [...failed].filter((id) => !(id in readings) && !(id in NO_MUSTS) && !id.startsWith('SES-')),
    [],
    'not in requirements/readings.ts',
  )
  t.same(
    [...Object.keys(readings), ...Object.keys(NO_MUSTS)].filter((id) => !failed.has(id)),
    [],
    'failed by no server',
  )
  t.same(
    Object.keys(readings).filter((id) => requirements.get(id)?.level !== 'must'),
    [],
    'read as a must, and none',
  )
  t.end()
})

t.test('the lists of known divergences are those of the reports beside them', async (t) => {
  const folder = new URL('../../../conformance/reports/', import.meta.url)
  const lists = readdirSync(folder).filter((name) => name.endsWith('.expectations.json5'))
  t.ok(lists.length >= 2)
  const ids = sessions.map(({ id }) => id)
  for (const name of lists) {
    const listed = [...readExpectations(fileURLToPath(new URL(name, folder)), ids).keys()]
    const { results } = readReport(new URL(name.replace('.expectations.json5', '.json'), folder))
    const found = results.filter(({ verdict }) => ['fail', 'crash', 'warn', 'known'].includes(verdict))
    t.same(listed.sort(), found.map(({ id }) => id).sort(), `${name}: what diverges in the report, and nothing else`)
  }
})
