import { parseArgs } from 'node:util'
import { lacks, openCandidate, servedServices, TargetError } from './candidate.js'
import { checks } from './checks.js'
import { progressLine, textReport } from './report/text.js'
import { runChecks } from './runner.js'

const USAGE = `usage: npm run conformance -- grpc://HOST:PORT [options]

  --instance-name NAME          the instance to examine (default: the empty name)
  --second-instance-name NAME   another instance with stores of its own
  --read-only-instance NAME     an instance whose action cache refuses updates
  --cache-only-instance NAME    an instance without execution
  --property NAME=VALUE         a platform property every action carries; repeatable
  --header NAME=VALUE           metadata on every call; repeatable
  --tls-ca, --tls-cert, --tls-key FILE
  --only ID[,ID...]             only these checks; FMB selects a whole group
`

const pairs = (entries: readonly string[]): [string, string][] =>
  entries.map((entry) => {
    const at = entry.indexOf('=')
    if (at < 1) throw new TargetError(`${entry}: expected NAME=VALUE`)
    return [entry.slice(0, at), entry.slice(at + 1)]
  })

const isSelected = (id: string, only: string | undefined): boolean =>
  only === undefined || only.split(',').some((wanted) => id === wanted || id.startsWith(`${wanted}-`))

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'instance-name': { type: 'string', default: '' },
      'second-instance-name': { type: 'string' },
      'read-only-instance': { type: 'string' },
      'cache-only-instance': { type: 'string' },
      property: { type: 'string', multiple: true, default: [] },
      header: { type: 'string', multiple: true, default: [] },
      'tls-ca': { type: 'string' },
      'tls-cert': { type: 'string' },
      'tls-key': { type: 'string' },
      only: { type: 'string' },
    },
  })
  const [address] = positionals
  if (address === undefined || positionals.length > 1) throw new TargetError(USAGE)
  const candidate = await openCandidate({
    address,
    instanceName: values['instance-name'],
    secondInstanceName: values['second-instance-name'],
    readOnlyInstanceName: values['read-only-instance'],
    cacheOnlyInstanceName: values['cache-only-instance'],
    properties: pairs(values.property).map(([name, value]) => ({ name, value })),
    headers: Object.fromEntries(pairs(values.header)),
    tls: { ca: values['tls-ca'], cert: values['tls-cert'], key: values['tls-key'] },
  })
  const results = await runChecks(
    checks.filter(({ id }) => isSelected(id, values.only)),
    candidate,
    {
      concurrency: 8,
      missing: lacks(candidate, await servedServices(candidate)),
      onResult: (result) => process.stderr.write(progressLine(result)),
    },
  )
  candidate.client.close()
  process.stdout.write(textReport(results))
  return results.some(({ verdict }) => verdict === 'fail') ? 1 : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof TargetError) && !(error instanceof TypeError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
