import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { checks } from '../checks/all.js'
import type { CandidateSettings } from '../exam/candidate.js'
import { notThere, requirements } from '../requirements/requirements.js'
import { readSession, type Session } from '../session/session.js'
import { sessions as ownSessions } from '../session/session-checks.js'
import { httpAddressOf } from '../wire/http.js'
import { oneLine, TargetError } from '../wire/target.js'
import { type Expectations, readExpectations } from './expectations.js'

export const USAGE = `usage: remexec-conformance grpc://HOST:PORT [options]
       remexec-conformance --http ADDRESS [options]

  --instance-name NAME          the instance to examine (default: the empty name)
  --second-instance-name NAME   another instance with stores of its own
  --read-only-instance NAME     an instance whose action cache refuses updates
  --cache-only-instance NAME    an instance without execution
  --store-size SIZE             what the store of the CAS holds, 1mb to 1gb: opens the rows that fill it three times over
  --http ADDRESS                an HTTP cache of build tools: http://HOST:PORT/PATH for Bazel's, KIND+http://... for ccache,
                                gradle, turborepo, nx, webdav, or plain; repeatable, and enough without a gRPC address
  --property NAME=VALUE         a platform property every action carries; repeatable
  --header NAME=VALUE           metadata on every call; repeatable
  --tls-ca, --tls-cert, --tls-key FILE
  --tls-server-name NAME        what the server's certificate must be for (default: the host of the address)
  --only ID[,ID...]             only these checks; FMB selects a whole group, SES all sessions
  --except ID[,ID...]           all but these: rows that this server does not survive, for instance
  --session FOLDER              replay the recorded session in this folder too; repeatable
  --explain ID[,ID...]          only these, with all that was sent and came, and what clients make of it
  --format FORMAT               text, json, junit, sarif, markdown, html or badge (default: text)
  --reports FOLDER              write all of them there as well, for CI; on GitHub the job's summary gets the Markdown
  --expectations FILE           a JSON5 list of { id, reason }: known divergences of this server; those with versions, such as
                                '>=2.5 <2.6.1', count if --server-version is one of these
  --write-expectations FILE     write what diverges as such a list, to be read and given reasons
  --restart-command COMMAND     run by the shell when the server has gone away, to bring it back
  --server-name NAME            names the server in reports (default: its address)
  --server-version TEXT         its version, commit or build, for reports
  --patience FACTOR             multiply every deadline, 0.1 to 99: more for a server that is slow or far (default: 1)
  --time-limit SECONDS          end the run after that, with what is known by then (default: 600)
  --quiet                       no live progress on stderr

exit code: 0 when no row fails, 1 when one does, the server crashed under a row that is not listed, or a listed divergence is
gone, 2 when the arguments are wrong, the server cannot be examined, or a check itself broke
`

export interface Settings {
  readonly candidate: CandidateSettings
  readonly format: string
  readonly isExplaining: boolean
  readonly isQuiet: boolean
  readonly timeLimitMs: number
  readonly expectations: Expectations
  readonly writeExpectationsTo: string | undefined
  /** The file of known divergences, beside which SARIF puts its findings. */
  readonly expectationsFile: string | undefined
  readonly reportsFolder: string | undefined
  readonly restartCommand: string | undefined
  /** Of the suite and of --session. */
  readonly sessions: readonly Session[]
  readonly serverName: string
  readonly serverVersion: string
  /** The options that decide what is examined, for reports, without the values of headers. */
  readonly examinedWith: readonly string[]
  isSelected(id: string): boolean
}

const FORMATS = ['text', 'json', 'junit', 'sarif', 'markdown', 'html', 'badge']

/** Throws a TargetError that names the wrong argument. */
export const settingsOf = (args: readonly string[]): Settings | 'help' => {
  const { values, positionals } = parsed(args)
  if (values.help) return 'help'
  const [address] = positionals
  const http = values.http.map(httpAddressOf)
  if ((address === undefined && http.length === 0) || positionals.length > 1) throw new TargetError(USAGE.trimEnd())
  if (!FORMATS.includes(values.format)) {
    throw new TargetError(`--format ${values.format}: expected ${FORMATS.join(', ')}`)
  }
  const selection = values.explain ?? values.only
  const sessions = [...ownSessions, ...values.session.map(sessionIn)]
  checkNames(sessions)
  const ids = [...checks, ...sessions].map(({ id }) => id)
  const [only, except] = [selection, values.except].map((list) => list?.split(','))
  for (const wanted of [...(only ?? []), ...(except ?? [])]) checkSelector(wanted, ids)
  return {
    candidate: {
      address: address ?? '',
      http,
      instanceName: values['instance-name'],
      secondInstanceName: values['second-instance-name'],
      readOnlyInstanceName: values['read-only-instance'],
      cacheOnlyInstanceName: values['cache-only-instance'],
      storeBytes: values['store-size'] === undefined ? undefined : bytesOf(values['store-size']),
      properties: pairs(values.property).map(([name, value]) => ({ name, value })),
      headers: Object.fromEntries(pairs(values.header)),
      patience: factorOf(values.patience),
      tls: {
        ca: values['tls-ca'],
        cert: values['tls-cert'],
        key: values['tls-key'],
        serverName: values['tls-server-name'],
      },
    },
    format: values.format,
    isExplaining: values.explain !== undefined,
    isQuiet: values.quiet,
    timeLimitMs: millisecondsOf(values['time-limit']),
    expectations:
      values.expectations === undefined
        ? new Map()
        : readExpectations(values.expectations, ids, values['server-version']),
    serverName: values['server-name'] ?? address ?? http[0]?.address ?? '',
    serverVersion: values['server-version'],
    examinedWith: examinedWith(values),
    isSelected: (id) =>
      (only?.some((wanted) => selects(wanted, id)) ?? true) && !except?.some((wanted) => selects(wanted, id)),
    writeExpectationsTo: values['write-expectations'],
    expectationsFile: values.expectations,
    reportsFolder: values.reports,
    restartCommand: values['restart-command'],
    sessions,
  }
}

const selects = (wanted: string, id: string): boolean => id === wanted || id.startsWith(`${wanted}-`)

const sessionIn = (folder: string): Session => {
  try {
    return readSession(folder)
  } catch (error) {
    throw new TargetError(`--session ${oneLine(error instanceof Error ? error.message : String(error))}`)
  }
}

/** Two rows of one name could be neither distinguished nor selected. */
const checkNames = (sessions: readonly Session[]): void => {
  const folders = new Map<string, string>()
  for (const { id, folder } of sessions) {
    const other = folders.get(id)
    if (other !== undefined) throw new TargetError(`--session ${folder}: ${id} is taken by ${other}; rename the folder`)
    folders.set(id, folder)
  }
}

/** Rejected, because a misspelt selector would examine nothing and report success. */
const checkSelector = (wanted: string, ids: readonly string[]): void => {
  if (ids.some((id) => selects(wanted, id))) return
  const isRow = requirements.has(wanted)
  const reason = isRow ? 'this row cannot be observed from outside' : `no check has this id: it ${notThere(wanted)}`
  throw new TargetError(`${wanted}: ${reason}`)
}

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'instance-name': { type: 'string', default: '' },
        'second-instance-name': { type: 'string' },
        'read-only-instance': { type: 'string' },
        'cache-only-instance': { type: 'string' },
        'store-size': { type: 'string' },
        http: { type: 'string', multiple: true, default: [] },
        property: { type: 'string', multiple: true, default: [] },
        header: { type: 'string', multiple: true, default: [] },
        'tls-ca': { type: 'string' },
        'tls-cert': { type: 'string' },
        'tls-key': { type: 'string' },
        'tls-server-name': { type: 'string' },
        only: { type: 'string' },
        explain: { type: 'string' },
        format: { type: 'string', default: 'text' },
        except: { type: 'string' },
        session: { type: 'string', multiple: true, default: [] },
        expectations: { type: 'string' },
        'write-expectations': { type: 'string' },
        reports: { type: 'string' },
        'restart-command': { type: 'string' },
        'server-name': { type: 'string' },
        'server-version': { type: 'string', default: '' },
        patience: { type: 'string', default: '1' },
        'time-limit': { type: 'string', default: '600' },
        quiet: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new TargetError(error instanceof Error ? error.message : String(error))
  }
}

const millisecondsOf = (seconds: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(seconds)) throw new TargetError(`--time-limit ${seconds}: expected seconds, 1 to 999999`)
  return Number(seconds) * 1_000
}

/** At most 1gb, because three times that is sent. */
const bytesOf = (size: string): number => {
  const [, count = '', unit = ''] = /^([1-9]\d{0,3})(mb|gb|mib|gib)$/.exec(size) ?? []
  const bytes = Number(count) * (unit.endsWith('ib') ? 1_024 : 1_000) ** (unit.startsWith('g') ? 3 : 2)
  if (count === '' || bytes > 1 << 30)
    throw new TargetError(
      `--store-size ${size}: expected 1mb to 1gb, such as 64mb; examine a server with a small store`,
    )
  return bytes
}

const factorOf = (factor: string): number => {
  if (!/^(?:[1-9]\d?|0\.[1-9])$/.test(factor))
    throw new TargetError(`--patience ${factor}: expected a factor, 0.1 to 99`)
  return Number(factor)
}

const EXAMINING = [
  'instance-name',
  'second-instance-name',
  'read-only-instance',
  'cache-only-instance',
  'store-size',
  'only',
  'except',
] as const

const examinedWith = (values: ReturnType<typeof parsed>['values']): string[] => [
  ...EXAMINING.flatMap((name) => (values[name] ? [`--${name} ${values[name]}`] : [])),
  ...values.property.map((property) => `--property ${property}`),
  ...values.http.map((each) => `--http ${httpAddressOf(each).kind}`),
  ...values.session.map((folder) => `--session ${basename(folder)}`),
  ...pairs(values.header).map(([name]) => `--header ${name}=...`),
  ...(values['tls-ca'] === undefined ? [] : ['--tls-ca']),
  ...(values['tls-cert'] === undefined ? [] : ['--tls-cert']),
]

const pairs = (entries: readonly string[]): [string, string][] =>
  entries.map((entry) => {
    const at = entry.indexOf('=')
    if (at < 1) throw new TargetError(`${entry}: expected NAME=VALUE`)
    return [entry.slice(0, at), entry.slice(at + 1)]
  })
