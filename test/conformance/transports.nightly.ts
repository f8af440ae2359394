import t from 'tap'
import type { ReportDocument } from '../../conformance/report/document.js'
import { scratchFolder } from '../clients/scratch.js'
import { conformance } from './program.js'
import { secured } from './secured.js'
import { everything, startServer } from './server.js'

// For changes in: conformance, src/server

// Two runs of the whole suite at the same time: of our own transport behind mutual TLS and with a token, of grpc-js without.
t.setTimeout(900_000)
t.jobs = 2

const INSTANCES = [
  ...['--second-instance-name', 'second', '--read-only-instance', 'frozen'],
  ...['--cache-only-instance', 'projects/p/instances/i', '--property', 'OSFamily=Linux'],
]

const rowsOf = async (address: string, args: readonly string[]): Promise<Map<string, string>> => {
  const always = [...INSTANCES, '--format', 'json', '--quiet', '--patience', '3']
  const { stdout, stderr } = await conformance(address, ...args, ...always)
  if (stdout === '') throw new Error(`no report: ${stderr}`)
  const { results } = JSON.parse(stdout) as ReportDocument
  // A late call is ended by the transport, in words of its own.
  // Where content is random, so is where it is cut and how far it is compressed.
  const told = (reason: string): string =>
    reason
      .replace(/^grpc-status 4 .*/, 'grpc-status 4')
      .replace(/(into|sends) \d+ (chunks|bytes)/, '$1 $2')
      // Either may be late on a busy machine.
      .replace(/(; )?an answer was late beside other rows.*$/, '')
  return new Map(results.map(({ id, verdict, reason }) => [id, `${verdict} ${told(reason)}`.trim()]))
}

const rows = new Map<string, Map<string, string>>()

const runs = [
  { transport: 'remexec', isSecured: true },
  { transport: 'grpc-js', isSecured: false },
]
for (const { transport, isSecured } of runs) {
  t.test(
    `the suite and every recorded session over ${transport}${isSecured ? ', mutual TLS and a token' : ''}`,
    async (t) => {
      const security = isSecured ? secured(everything, await scratchFolder(t)) : undefined
      // The certificate is for the name, and no address is one that TLS may ask for.
      const address = (await startServer(t, transport, security?.config)).replace('127.0.0.1', 'localhost')
      const found = await rowsOf(address, security?.args ?? [])
      rows.set(transport, found)
      t.ok([...found.keys()].filter((id) => id.startsWith('SES-')).length >= 10, 'sessions are among the rows')
      t.same(
        [...found].filter(([, outcome]) => /^(fail|crash|broken|surprise)/.test(outcome)),
        [],
      )
      if (security === undefined) return
      t.match(address, /^grpcs:/)
      const { code, stderr } = await conformance(address, ...security.argsWithoutToken, '--quiet', '--only', 'FMB-01')
      t.equal(code, 2, 'without the token nothing can be examined')
      t.match(stderr, /UNAUTHENTICATED/)
    },
  )
}

t.test('row by row the transports have the same outcome', { buffered: false }, async (t) => {
  const [ours, theirs] = [rows.get('remexec') ?? new Map(), rows.get('grpc-js') ?? new Map()]
  t.ok(ours.size > 300, `${ours.size} rows`)
  for (const [id, outcome] of ours) if (theirs.get(id) !== outcome) t.equal(theirs.get(id), outcome, id)
  t.equal(theirs.size, ours.size)
})
