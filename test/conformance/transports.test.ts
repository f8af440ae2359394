import t from 'tap'
import type { ReportDocument } from '../../conformance/report/document.js'
import { conformance } from './program.js'
import { startServer } from './server.js'

// Two runs of the whole suite at the same time.
t.setTimeout(300_000)
t.jobs = 2

const INSTANCES = [
  ...['--second-instance-name', 'second', '--read-only-instance', 'frozen'],
  ...['--cache-only-instance', 'projects/p/instances/i', '--property', 'OSFamily=Linux'],
]

const rowsOf = async (address: string): Promise<Map<string, string>> => {
  const { stdout, stderr } = await conformance(address, ...INSTANCES, '--format', 'json', '--quiet', '--patience', '3')
  if (stdout === '') throw new Error(`no report: ${stderr}`)
  const { results } = JSON.parse(stdout) as ReportDocument
  // A late call is ended by the transport, in words of its own.
  // Where content is random, so is where it is cut.
  const told = (reason: string): string =>
    reason.replace(/^grpc-status 4 .*/, 'grpc-status 4').replace(/into \d+ chunks/, 'into chunks')
  return new Map(results.map(({ id, verdict, reason }) => [id, `${verdict} ${told(reason)}`.trim()]))
}

const rows = new Map<string, Map<string, string>>()

for (const transport of ['remexec', 'grpc-js']) {
  t.test(`the suite and every recorded session over ${transport}`, async (t) => {
    const found = await rowsOf(await startServer(t, transport))
    rows.set(transport, found)
    t.ok([...found.keys()].filter((id) => id.startsWith('SES-')).length >= 10, 'sessions are among the rows')
    t.same(
      [...found].filter(([, outcome]) => /^(fail|crash|broken|surprise)/.test(outcome)),
      [],
    )
  })
}

t.test('row by row the transports have the same outcome', { buffered: false }, async (t) => {
  const [ours, theirs] = [rows.get('remexec') ?? new Map(), rows.get('grpc-js') ?? new Map()]
  t.ok(ours.size > 300, `${ours.size} rows`)
  for (const [id, outcome] of ours) if (theirs.get(id) !== outcome) t.equal(theirs.get(id), outcome, id)
  t.equal(theirs.size, ours.size)
})
