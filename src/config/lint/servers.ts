import { CATCH_ALL, entryFor } from '../../base/catch-all.js'
import { whyOwned } from '../carried.js'
import type { ServerConfig } from '../config.js'
import { defaultNumber, defaultsOf, schemaFile } from '../schema/schema.js'
import { withNested } from '../store-path.js'
import { clash, isLocalOnly, isUnix } from '../value/address.js'
import { lintAssets } from './assets.js'
import { lintChunking } from './chunking.js'
import { type LintContext, storeBehind } from './context.js'
import { lintPages } from './pages.js'

/**
 * Words that separate the parts of a resource name. No segment of an instance name may be one of them (REAPI,
 * ByteStream naming).
 */
const RESERVED = new Set([
  'blobs',
  'uploads',
  'actions',
  'actionResults',
  'operations',
  'capabilities',
  'compressed-blobs',
])

export const lintServers = (context: LintContext): void => {
  const { config, findings, isWhole } = context
  if (isWhole && config.servers.length === 0 && config.workers.length === 0)
    findings.error(['servers'], 'there is neither a server nor a worker', { expected: 'a server or a worker' })
  lintPorts(context)
  lintIdleThreads(context)
  for (const server of config.servers) {
    lintCompression(server, context)
    lintHttp2(server, context)
    lintThreads(server, context)
    lintTls(server, context)
    lintUnixSocket(server, context)
    lintInstanceNames(server, context)
    lintSharedStores(server, context)
    lintChunking(server, context)
    lintByteStream(server, context)
    lintExecution(server, context)
    lintAssets(server, context)
    lintAdmin(server, context)
    lintOpenness(server, context)
    lintPages(server, context)
  }
  const { default_digest_hash_function: preferred, digest_functions: offered } = config.global
  if (offered.includes(preferred)) return
  findings.error(['global', 'default_digest_hash_function'], `${preferred} is not among digest_functions`, {
    found: preferred,
    expected: `one of ${offered.join(', ')}`,
  })
}

/** Whatever the stores are, some options have their state in one place, so that threads would have no connection. `validate` and the start look at the stores too. */
const lintIdleThreads = ({ config, findings, isWhole }: LintContext): void => {
  const { threads } = config.global
  if (threads === 1 || !isWhole || config.servers.length === 0) return
  const uses = new Map([...config.stores.keys()].map((name) => [name, { isOneEach: true } as const]))
  const reasons = config.servers.map((server) => whyOwned(server, config, uses))
  if (reasons.some((reason) => reason === undefined)) return
  const because = [...new Set(reasons)].join('; ')
  findings.warning(
    ['global', 'threads'],
    `the threads would have no connection, because all calls are served by the main thread: ${because}`,
    {
      found: `${threads} threads, none of which is started`,
      expected: 'threads: 1, or a configuration without this (docs/threads.md lists what threads serve)',
    },
  )
}

/** Service threads have connections of our own transport. */
const lintThreads = ({ listener }: ServerConfig, { config, findings, originOf }: LintContext): void => {
  const { threads } = config.global
  if (threads === 1 || listener.transport !== 'grpc-js') return
  findings.error([...originOf(listener), 'transport'], 'grpc-js serves all connections on the main thread', {
    found: `grpc-js, and ${threads} as threads of global`,
    expected: 'the transport remexec, or global without threads',
  })
}

/** Without `security`, whoever reaches the listener may run commands here, or be given the commands of others. */
const lintOpenness = ({ listener, services }: ServerConfig, { config, findings, originOf }: LintContext): void => {
  if (config.security !== undefined || isLocalOnly(listener.host)) return
  const expected = 'security, an address such as 127.0.0.1, or a network in which everyone may do this'
  const warn = (what: string): void =>
    findings.warning([...originOf(listener), 'socket_address'], `everyone who reaches this address may ${what}`, {
      found: JSON.stringify(listener.socket_address),
      expected,
    })
  if (services.execution.size > 0) warn('run commands')
  if (services.worker_api !== undefined) warn('take actions and report results')
  if ([...services.push.values()].some(({ read_only }) => !read_only)) warn('state what a URI contains')
  if ([...services.fetch.values()].some(({ download }) => download !== undefined)) warn('let this server download')
}

/** Without `security`, only a listener of its own or the loopback address protects the admin service. */
const lintAdmin = ({ listener, services }: ServerConfig, { config, findings, originOf }: LintContext): void => {
  const { admin, cas, ac, execution } = services
  if (isLocalOnly(listener.host)) return
  if (admin === undefined || config.security !== undefined || cas.size + ac.size + execution.size === 0) return
  findings.warning(originOf(admin), 'whoever reaches this server may drain workers and cancel actions', {
    expected: 'admin in a server of its own on an address for operators, or security with `administer`',
  })
}

const lintPorts = ({ config: { servers }, findings, originOf }: LintContext): void => {
  // Only listeners of one port, or of one path, can clash.
  const byPort = new Map<number | string, ServerConfig[]>()
  for (const server of servers) {
    const { name, listener } = server
    const key = isUnix(listener.host) ? listener.host : listener.port
    const before = byPort.get(key) ?? []
    byPort.set(key, before)
    const other = before.find((one) => clash(one.listener, listener))
    if (other === undefined) before.push(server)
    if (other === undefined) continue
    findings.error(
      [...originOf(listener), 'socket_address'],
      `server "${name}" listens where server "${other.name}" already does`,
      {
        found: JSON.stringify(listener.socket_address),
        expected: 'a port of its own, or one server with the services of both',
      },
    )
  }
}

/** grpc-js does not compress responses, and accepts the encodings that it knows. */
const lintCompression = ({ listener }: ServerConfig, { findings, originOf }: LintContext): void => {
  const { transport, compression } = listener
  if (transport !== 'grpc-js') return
  const path = [...originOf(listener), 'compression']
  const { send_compression_algorithm: sent, accepted_compression_algorithms: accepted } = compression
  if (sent !== 'none') {
    findings.error([...path, 'send_compression_algorithm'], 'transport "grpc-js" cannot compress responses', {
      found: JSON.stringify(sent),
      expected: '"none", or transport "remexec"',
    })
  }
  if (accepted.includes('gzip') && accepted.includes('deflate')) return
  findings.error(
    [...path, 'accepted_compression_algorithms'],
    'transport "grpc-js" takes requests in gzip and deflate, whatever is said here',
    { found: JSON.stringify(accepted), expected: 'both, which is the default, or transport "remexec"' },
  )
}

/** grpc-js uses its own HTTP/2 settings and ignores the configured limits. */
const lintHttp2 = ({ listener }: ServerConfig, { findings, originOf }: LintContext): void => {
  if (listener.transport !== 'grpc-js') return
  const { request_timeout_s: timeout } = listener
  if (timeout !== defaultNumber('listener.json', 'request_timeout_s')) {
    findings.error([...originOf(listener), 'request_timeout_s'], 'transport "grpc-js" waits for requests for ever', {
      found: String(timeout),
      expected: 'the key left out, or transport "remexec"',
    })
  }
  const defaults = defaultsOf(schemaFile('listener.json').properties?.['advanced_http'] ?? {})
  for (const [key, value] of Object.entries(listener.advanced_http)) {
    if (value === defaults[key]) continue
    findings.error(
      [...originOf(listener), 'advanced_http', key],
      'transport "grpc-js" cannot be told how to speak HTTP/2',
      { found: JSON.stringify(value), expected: 'the key left out, or transport "remexec"' },
    )
  }
}

/** Reports options for client certificates if none are requested. */
const lintTls = ({ listener: { tls } }: ServerConfig, { findings, originOf }: LintContext): void => {
  if (tls === undefined || tls.client_ca_file !== undefined) return
  const idle = tls.client_crl_file === undefined ? 'client_certificates' : 'client_crl_file'
  if (tls[idle] === undefined || tls[idle] === 'required') return
  const message = `${idle} is about certificates of clients, and without client_ca_file none are asked for`
  findings.error([...originOf(tls), idle], message, {
    found: JSON.stringify(tls[idle]),
    expected: 'client_ca_file too',
  })
}

/** The file system says who reaches a unix socket; only our own transport knows that a caller came by one. */
const lintUnixSocket = ({ listener }: ServerConfig, { findings, originOf }: LintContext): void => {
  if (!isUnix(listener.host)) return
  const found = JSON.stringify(listener.socket_address)
  if (listener.tls !== undefined)
    findings.error(originOf(listener.tls), 'a unix socket is without TLS', { found, expected: 'host:port, or no tls' })
  if (listener.transport === 'grpc-js')
    findings.error([...originOf(listener), 'transport'], 'transport "grpc-js" serves no unix socket', {
      found,
      expected: 'host:port, or transport "remexec"',
    })
}

const perInstance = ({ services }: ServerConfig) =>
  [
    ...[services.cas, services.ac, services.bytestream, services.execution, services.capabilities],
    ...[services.fetch, services.push],
  ].flatMap((service) => [...service.values()])

const lintInstanceNames = (server: ServerConfig, { findings, originOf }: LintContext): void => {
  for (const options of perInstance(server)) {
    const { instance_name: name } = options
    const path = originOf(options)
    if (path.length === 0 || name === '') continue
    const segments = name.split('/')
    const reserved = segments.find((segment) => RESERVED.has(segment))
    if (segments.length > 1 && segments.includes(CATCH_ALL)) {
      findings.error(path, `"${CATCH_ALL}" stands for every name only where it is the whole name`, {
        found: JSON.stringify(name),
        expected: `"${CATCH_ALL}", or a name without it`,
      })
      continue
    }
    if (reserved === undefined && !segments.includes('')) continue
    const what =
      reserved === undefined
        ? 'an empty segment'
        : `the segment "${reserved}", which means something else in resource names`
    findings.error(path, `the instance name ${JSON.stringify(name)} has ${what}`, {
      found: JSON.stringify(name),
      expected: `segments joined by "/", none of them empty or one of ${[...RESERVED].join(', ')}`,
    })
  }
}

/** A blob and a result may have the same digest, so one store for both could return one for the other. */
const lintSharedStores = ({ services }: ServerConfig, { config, findings, originOf }: LintContext): void => {
  for (const [instance, ac] of resultsByInstance(services)) {
    const path = [...originOf(ac), 'ac_store']
    if (findings.isWrong(path)) continue
    const store = storeBehind(config.stores, ac.ac_store)
    const cas = entryFor(services.cas, instance) ?? entryFor(services.execution, instance)
    if (store && cas && store === storeBehind(config.stores, cas.cas_store)) {
      findings.error(path, `instance ${JSON.stringify(instance)} has one store for blobs and for results`, {
        found: JSON.stringify(ac.ac_store),
        expected: 'a store that is not its cas_store',
      })
    } else if (store && withNested(store).some(({ kind }) => kind === 'verify')) {
      findings.error(
        path,
        'a verify store refuses every result, because the digest of a result is that of its action',
        {
          found: JSON.stringify(ac.ac_store),
          expected: 'a store without verify',
        },
      )
    }
  }
}

/** The action cache of each named instance, entries of the file first. */
const resultsByInstance = ({ ac, cas, execution }: ServerConfig['services']) => {
  const found = new Map(ac)
  for (const instance of [...cas.keys(), ...execution.keys()]) {
    const others = found.has(instance) ? undefined : ac.get(CATCH_ALL)
    if (others !== undefined) found.set(instance, others)
  }
  return found
}

const lintByteStream = ({ services }: ServerConfig, { findings, originOf }: LintContext): void => {
  for (const [instance, { cas_store, ...rest }] of services.bytestream) {
    const cas = services.cas.get(instance)
    if (cas === undefined || cas.cas_store === cas_store) continue
    const options = services.bytestream.get(instance) ?? rest
    findings.warning(
      originOf(options),
      `bytestream and cas of instance ${JSON.stringify(instance)} use different stores`,
      {
        found: JSON.stringify(cas_store),
        expected: JSON.stringify(cas.cas_store),
      },
    )
  }
}

/** Clients upload actions and inputs under the instance name of their Execute request. */
const lintExecution = ({ services }: ServerConfig, { config, findings, originOf, isWhole }: LintContext): void => {
  for (const [instance, options] of services.execution) {
    if (!isWhole || config.servers.some((other) => entryFor(other.services.cas, instance))) continue
    findings.warning(
      originOf(options),
      `instance ${JSON.stringify(instance)} is served by no cas: clients cannot upload what it executes`,
      { expected: 'an entry for the instance in services.cas' },
    )
  }
}
