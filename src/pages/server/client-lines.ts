import type { HttpCacheServiceOptions, ServerConfig } from '../../config/config.js'

/** Lines of configuration for clients of a server, ready to copy. */

/** What the lines name. */
export interface ClientFacts {
  readonly address: string
  readonly host: string
  readonly instance: string
  readonly isSecure: boolean
  /** Whether it runs actions, or shares results only. */
  readonly runs: boolean
  readonly sendsEvents: boolean
  /** Of the pages; undefined without them. */
  readonly page: string | undefined
  readonly needsToken: boolean
}

export const bazelLines = ({
  address,
  instance,
  runs,
  needsToken,
  sendsEvents,
  page,
}: ClientFacts): readonly string[] => [
  `build --${runs ? 'remote_executor' : 'remote_cache'}=${address}`,
  ...(instance === '' ? [] : [`build --remote_instance_name=${instance}`]),
  ...(sendsEvents ? [`build --bes_backend=${address}`] : []),
  ...(sendsEvents && instance !== '' ? [`build --bes_instance_name=${instance}`] : []),
  ...(sendsEvents && page !== undefined ? [`build --bes_results_url=${page.replace(/\/$/, '')}/invocation/`] : []),
  ...(needsToken ? ['build --remote_header=authorization="Bearer TOKEN"'] : []),
  ...(needsToken && sendsEvents ? ['build --bes_header=authorization="Bearer TOKEN"'] : []),
]

export const buck2Lines = ({ address, instance, isSecure, needsToken }: ClientFacts): readonly string[] => [
  '[buck2_re_client]',
  ...['engine_address', 'action_cache_address', 'cas_address'].map((name) => `${name} = ${address}`),
  `instance_name = ${instance}`,
  `tls = ${isSecure}`,
  ...(needsToken ? ['http_headers = authorization:Bearer TOKEN'] : []),
]

export const sisoLines = ({ host, instance, isSecure }: ClientFacts): readonly string[] => [
  `siso ninja -C out -reapi_address=${host}${isSecure ? '' : ' -reapi_insecure'}`,
  ...(instance === '' ? [] : [`  -reapi_instance=${instance}`]),
]

/** Facts about a server whose clients reach it at `host`. */
export const clientFacts = (server: ServerConfig, host: string, needsToken: boolean): ClientFacts => {
  const { cas, execution, build_events, pages } = server.services
  const [instance] = [...(execution.size > 0 ? execution : cas).keys()].filter((name) => name !== '*')
  const isSecure = server.listener.tls !== undefined || isBehindTls(pages?.address, host)
  return {
    address: `${isSecure ? 'grpcs' : 'grpc'}://${host}`,
    ...{ host, isSecure, needsToken, instance: instance ?? '' },
    runs: execution.size > 0,
    sendsEvents: build_events !== undefined,
    page: pages && `${isSecure ? 'https' : 'http'}://${host}${pages.path}`,
  }
}

/** Whether people reach this host by a proxy that speaks TLS for the server. */
const isBehindTls = (address: string | undefined, host: string): boolean => {
  if (address === undefined || !URL.canParse(address)) return false
  const { protocol, host: named } = new URL(address)
  return protocol === 'https:' && named === host
}

type CacheKindName = HttpCacheServiceOptions['kind']

const MAVEN = '-Dmaven.build.cache.remote.'

/** What each tool with an HTTP cache needs, by the address of its cache; docs/http-caches.md has the same lines. */
const TOOLS: Readonly<
  Record<CacheKindName, { readonly title: string; readonly lines: (url: string, hasToken: boolean) => string[] }>
> = {
  bazel: { title: 'Bazel over HTTP (.bazelrc)', lines: (url) => [`build --remote_cache=${url}`] },
  ccache: {
    title: 'ccache',
    lines: (url, hasToken) => [`export CCACHE_REMOTE_STORAGE="${url}${hasToken ? ' @bearer-token=TOKEN' : ''}"`],
  },
  webdav: {
    title: 'sccache',
    lines: (url, hasToken) => [
      `export SCCACHE_WEBDAV_ENDPOINT=${url}`,
      ...(hasToken ? ['export SCCACHE_WEBDAV_TOKEN=TOKEN'] : []),
    ],
  },
  turborepo: {
    title: 'Turborepo',
    lines: (url) => [`export TURBO_API=${url}`, 'export TURBO_TOKEN=TOKEN', 'export TURBO_TEAM=team'],
  },
  nx: {
    title: 'Nx',
    lines: (url, hasToken) => [
      `export NX_SELF_HOSTED_REMOTE_CACHE_SERVER=${url}`,
      ...(hasToken ? ['export NX_SELF_HOSTED_REMOTE_CACHE_ACCESS_TOKEN=TOKEN'] : []),
    ],
  },
  gradle: {
    title: 'Gradle (settings.gradle)',
    lines: (url, hasToken) => [
      'buildCache {',
      '  remote(HttpBuildCache) {',
      `    url = '${url}/'`,
      ...(url.startsWith('http:') ? ['    allowInsecureProtocol = true'] : []),
      '    push = true',
      ...(hasToken ? ["    credentials { username = 'any'; password = 'TOKEN' }"] : []),
      '  }',
      '}',
    ],
  },
  maven: {
    title: 'Maven',
    lines: (url) => [
      `mvn verify ${MAVEN}enabled=true ${MAVEN}save.enabled=true ${MAVEN}server.id=cache \\`,
      `  ${MAVEN}url=${url}`,
    ],
  },
  go: { title: 'Go by go-cacher', lines: (url) => [`export GOCACHEPROG="go-cacher -cache-server=${url}"`] },
  opaque: { title: 'Files by any client of HTTP', lines: (url) => [`curl -T FILE ${url}/KEY`] },
}

/** Title and lines for each client that a server has something for. */
export const clientLines = (
  facts: ClientFacts,
  caches: Iterable<HttpCacheServiceOptions>,
): readonly (readonly [string, readonly string[]])[] => {
  const origin = `${facts.isSecure ? 'https' : 'http'}://${facts.host}`
  return [
    ['Bazel (.bazelrc)', bazelLines(facts)],
    ['Buck2 (.buckconfig)', buck2Lines(facts)],
    ['Siso', sisoLines(facts)],
    ...[...caches].map(({ path, kind }) => {
      const { title, lines } = TOOLS[kind]
      return [title, lines(`${origin}${path === '/' ? '' : path}`, facts.needsToken)] as const
    }),
  ]
}
