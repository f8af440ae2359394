import { StatusError } from '../base/status-error.js'

export interface OriginRules {
  /** Hosts: `example.com`, `*.example.com` for every name below it, or `*` for all. */
  readonly allow: readonly string[]
  /** Takes precedence over `allow`. */
  readonly deny: readonly string[]
  readonly ports: readonly number[]
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** The URLs that may be downloaded, by scheme, host and port. */
export class Origins {
  readonly #allows: (hostname: string) => boolean
  readonly #denies: (hostname: string) => boolean
  readonly #ports: ReadonlySet<number>

  constructor({ allow, deny, ports }: OriginRules) {
    this.#allows = anyHost(allow)
    this.#denies = anyHost(deny)
    this.#ports = new Set(ports)
  }

  /** Throws PERMISSION_DENIED for a URL that may not be downloaded. */
  check(url: URL): void {
    const { protocol, username, password } = url
    const defaultPort = DEFAULT_PORTS[protocol]
    if (defaultPort === undefined) throw refused(`the scheme ${protocol} is not supported, expected http: or https:`)
    if (username !== '' || password !== '') throw refused('a URL with a password is not allowed, expected a header')
    // A name may end with the dot of the root.
    const hostname = url.hostname.replace(/\.$/, '')
    if (!this.#allows(hostname) || this.#denies(hostname)) throw refused(`downloads from ${hostname} are not allowed`)
    const port = url.port === '' ? defaultPort : Number(url.port)
    if (!this.#ports.has(port)) throw refused(`downloads from port ${port} are not allowed`)
  }
}

const refused = (reason: string): StatusError => new StatusError('PERMISSION_DENIED', reason)

const anyHost = (patterns: readonly string[]): ((hostname: string) => boolean) => {
  const isAny = patterns.includes('*')
  const names = new Set(patterns.map((pattern) => pattern.toLowerCase()))
  const endings = [...names].filter((name) => name.startsWith('*.')).map((name) => name.slice(1))
  return (hostname) => isAny || names.has(hostname) || endings.some((ending) => hostname.endsWith(ending))
}
