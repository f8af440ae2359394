import { StatusError } from '../../../base/status-error.js'

export type RedisMode = 'standard' | 'sentinel' | 'cluster'

/** The Redis servers to connect to, and the credentials. */
export interface RedisTarget {
  readonly mode: RedisMode
  /** One server, or the sentinels or cluster nodes that know the others. */
  readonly nodes: readonly RedisNode[]
  readonly usesTls: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  /** The database number; always 0 in a cluster. */
  readonly database: number
  readonly sentinel: SentinelTarget
  /** The name for operators and the health report: `127.0.0.1:6379`, without secrets. */
  readonly name: string
  /** Names of query parameters in an address that have no effect. */
  readonly unusedOptions: readonly string[]
}

export interface RedisNode {
  readonly host: string
  readonly port: number
}

/** The service name at the sentinels, and the credentials for them. */
export interface SentinelTarget {
  readonly serviceName: string
  readonly username: string | undefined
  readonly password: string | undefined
}

const FORMS: Readonly<Record<RedisMode, string>> = {
  standard: 'redis://[username:password@]host[:port][/database], or rediss:// for TLS',
  sentinel:
    'redis+sentinel://[username:password@]host[:port][/database][?sentinelServiceName=name], or rediss+sentinel://',
  cluster: 'redis://[username:password@]host[:port], or rediss:// for TLS',
}

const PORTS: Readonly<Record<RedisMode, number>> = { standard: 6379, sentinel: 26379, cluster: 6379 }

/** Combines the configured addresses into one target. Errors are INVALID_ARGUMENT and never contain passwords. */
export const parseAddresses = (mode: RedisMode, addresses: readonly string[]): RedisTarget => {
  const all = addresses.map((address) => parseAddress(mode, address))
  const [first] = all
  if (first === undefined || (mode === 'standard' && all.length > 1)) {
    throw new StatusError('INVALID_ARGUMENT', `${all.length} addresses in mode ${mode}, expected ${EXPECTED[mode]}`)
  }
  for (const other of all) {
    const difference = differenceOf(first, other)
    if (difference === undefined) continue
    const message = `addresses: ${other.name} has another ${difference} than ${first.name}, expected the same of all`
    throw new StatusError('INVALID_ARGUMENT', message)
  }
  const nodes = all.flatMap((target) => target.nodes)
  const unusedOptions = [...new Set(all.flatMap((target) => target.unusedOptions))]
  return { ...first, nodes, name: nodes.map(({ host, port }) => `${host}:${port}`).join(','), unusedOptions }
}

/** A setting that must be the same for all addresses, because only that of the first one is used. */
const differenceOf = (first: RedisTarget, other: RedisTarget): string | undefined => {
  if (other.usesTls !== first.usesTls) return 'scheme'
  if (other.username !== first.username || other.password !== first.password) return 'name or password'
  if (other.database !== first.database) return 'database'
  const { serviceName, username, password } = first.sentinel
  const same = other.sentinel
  const isSame = same.serviceName === serviceName && same.username === username && same.password === password
  return isSame ? undefined : 'option of its sentinel'
}

const EXPECTED: Readonly<Record<RedisMode, string>> = {
  standard: 'exactly one',
  sentinel: 'one of a sentinel',
  cluster: 'at least one',
}

const SENTINEL_OPTIONS: ReadonlySet<string> = new Set(['sentinelServiceName', 'sentinelUsername', 'sentinelPassword'])

const parseAddress = (mode: RedisMode, address: string): RedisTarget => {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const [scheme, suffix] = (url?.protocol.slice(0, -1) ?? '').split('+')
  const isFit = suffix === (mode === 'sentinel' ? 'sentinel' : undefined)
  if (url === undefined || !isFit || (scheme !== 'redis' && scheme !== 'rediss') || url.hostname === '') {
    throw refused(mode, url, 'is not an address for this mode')
  }
  const database = url.pathname.replace(/^\//, '')
  if (!/^\d*$/.test(database) || (mode === 'cluster' && Number(database) !== 0)) {
    throw refused(mode, url, `has no database ${JSON.stringify(database)}`)
  }
  const option = (name: string): string | undefined => url.searchParams.get(name) ?? undefined
  return {
    mode,
    nodes: [{ host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? PORTS[mode] : Number(url.port) }],
    usesTls: scheme === 'rediss',
    username: decoded(url.username),
    password: decoded(url.password),
    database: Number(database),
    sentinel: {
      serviceName: option('sentinelServiceName') ?? 'master',
      username: option('sentinelUsername'),
      password: option('sentinelPassword'),
    },
    name: url.host,
    unusedOptions: [...url.searchParams.keys()].filter((name) => mode !== 'sentinel' || !SENTINEL_OPTIONS.has(name)),
  }
}

const refused = (mode: RedisMode, url: URL | undefined, why: string): StatusError =>
  new StatusError(
    'INVALID_ARGUMENT',
    `addresses: ${url === undefined ? 'what is there' : `${url.protocol}//${url.host}${url.pathname}`} ${why} (${mode}), expected ${FORMS[mode]}`,
  )

const decoded = (text: string): string | undefined => (text === '' ? undefined : decodeURIComponent(text))
