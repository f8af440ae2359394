import t from 'tap'
import { openCandidate } from '../../conformance/exam/candidate.js'
import type { ReportDocument } from '../../conformance/report/document.js'
import { profiles } from '../../conformance/requirements/profiles.js'
import { listOperations } from '../../conformance/wire/methods.js'
import { scratchFolder } from '../clients/scratch.js'
import { conformance } from './program.js'
import { secured } from './secured.js'
import { everything, startServer } from './server.js'

// The whole suite once, with every recorded session: our own transport behind mutual TLS, with a token. Both transports side by side
// are in transports.nightly.ts.

// Most of a minute on two idle cores, and several on a machine with other work.
t.setTimeout(600_000)

const { config, args, argsWithoutToken, candidate } = secured(everything, await scratchFolder(t))
// The certificate is for the name, and no address is one that TLS may ask for.
const address = (await startServer(t, 'remexec', config)).replace('127.0.0.1', 'localhost')

const INSTANCES = [
  ...['--second-instance-name', 'second', '--read-only-instance', 'frozen'],
  ...['--cache-only-instance', 'projects/p/instances/i', '--property', 'OSFamily=Linux'],
  // On a machine with other work the server is slow, not wrong.
  ...['--patience', '4'],
]

t.test('no must row fails on this server, and no check breaks', async (t) => {
  t.match(address, /^grpcs:/)
  const { code, stdout, stderr } = await conformance(address, ...args, ...INSTANCES, '--format', 'json')
  const { results, summary } = JSON.parse(stdout) as ReportDocument
  const wrong = results.filter(({ verdict }) => ['fail', 'crash', 'broken', 'surprise'].includes(verdict))
  t.same(
    wrong.map(({ id, reason }) => `${id}: ${reason}`),
    [],
  )
  t.equal(code, 0)
  t.ok(results.length >= 300 && summary.pass >= 250, JSON.stringify(summary))
  t.ok(results.filter(({ id }) => id.startsWith('SES-')).length >= 10, 'sessions are among the rows')
  t.match(stderr, /\d+\/\d+ ok {3}GEN-01/, 'live progress')
  for (const { id, fact } of profiles) {
    const result = results.find((each) => each.id === id)
    t.ok(result?.observations[fact] !== undefined || result?.verdict === 'skip', `${id} measures ${fact}`)
  }
})

t.test('rows about chunks hold for the other chunking function', async (t) => {
  const only = ['--instance-name', 'second', '--only', 'SPL,CLI-02,CLI-03', '--patience', '4']
  const { stdout } = await conformance(address, ...args, ...only, '--format', 'json', '--quiet')
  const { results } = JSON.parse(stdout) as ReportDocument
  const unlike = results.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'chosen')
  t.same(
    unlike.map(({ id, reason }) => `${id}: ${reason}`),
    ['SPL-10: the server does not announce FAST_CDC_2020'],
  )
})

t.test('no operation of that run is left running', async (t) => {
  const { client } = await openCandidate({ address, instanceName: '', properties: [], ...candidate })
  t.teardown(() => client.close())
  for (let page = 0, pageToken = ''; page === 0 || pageToken !== ''; page++) {
    const { code, responses } = await client.call(listOperations, { name: '', pageSize: 1_000, pageToken })
    t.equal(code, 0)
    t.same(
      responses[0]?.operations.filter(({ done }) => !done).map(({ name }) => name),
      [],
    )
    pageToken = responses[0]?.nextPageToken ?? ''
  }
})

t.test('without the token nothing can be examined', async (t) => {
  const { code, stderr } = await conformance(address, ...argsWithoutToken, '--quiet', '--only', 'FMB-01')
  t.equal(code, 2)
  t.match(stderr, /UNAUTHENTICATED/)
})
