import type { Readable } from 'node:stream'
import type { Dispatcher, request } from 'undici'
import { errnoOf, inWords } from '../base/errno.js'
import { destinationOf, proxyOf } from '../base/proxies.js'
import { StatusError } from '../base/status-error.js'
import { cancellation } from '../rpc/call.js'
import type { Addresses } from './addresses.js'
import type { Origins } from './origins.js'

export interface DownloaderOptions {
  readonly origins: Origins
  readonly addresses: Addresses
  readonly maxRedirects: number
  /** How long an origin may be silent. */
  readonly idleMs: number
  /** URL of a proxy for every request, which then resolves the names of hosts; undefined for what the environment says. */
  readonly proxy?: string | undefined
}

/** What to ask an origin for. */
export interface Wanted {
  readonly url: URL
  /** Sent to the origin of `url` only, not after a redirect to another one. Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** The entity tag of content that the caller has; empty if it has none. */
  readonly etag: string
  readonly signal: AbortSignal
}

/** The answer of an origin. The caller must read `body` to its end or destroy it. */
export type Answer =
  | { readonly kind: 'content'; readonly body: Readable; readonly sizeBytes: number | undefined; readonly etag: string }
  /** The content still has the entity tag of the request. */
  | { readonly kind: 'unchanged' }

interface Library {
  readonly request: typeof request
  readonly direct: Dispatcher
  /** The proxies in use, by URL. */
  readonly proxies: Map<string, Dispatcher>
  readonly proxied: (uri: string) => Dispatcher
}

/** Only for servers that download: the library takes a tenth of a second of CPU. */
const load = async ({ addresses, idleMs }: DownloaderOptions): Promise<Library> => {
  const { Agent, ProxyAgent, request } = await import('undici')
  const limits = { headersTimeout: idleMs, bodyTimeout: idleMs, maxHeaderSize: MAX_HEADER_BYTES }
  return {
    request,
    direct: new Agent({ ...limits, connect: { lookup: addresses.lookup, timeout: idleMs } }),
    proxies: new Map(),
    // Proxies refuse CONNECT to port 80: `http:` is asked for by its whole URL, as curl does.
    proxied: (uri) => new ProxyAgent({ ...limits, uri, proxyTunnel: false }),
  }
}

/**
 * Gets content from origins by HTTP. Each step of a redirect is checked like the first URL. Content arrives as the origin stores it,
 * without a transfer encoding such as gzip.
 */
export class Downloader {
  readonly #options: DownloaderOptions
  readonly #library: Promise<Library>

  constructor(options: DownloaderOptions) {
    this.#options = options
    this.#library = load(options)
    // Each request tells of a failure.
    this.#library.catch(() => {})
  }

  /**
   * Throws NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED or, for an origin that is away or fails, ABORTED
   * (Remote Asset API, Fetch: the codes of failures outside the server).
   */
  async get({ url: first, headers, etag, signal }: Wanted): Promise<Answer> {
    let url = first
    for (let redirects = 0; ; redirects++) {
      this.#options.origins.check(url)
      this.#options.addresses.checkLiteral(url.hostname)
      const isSameOrigin = url.origin === first.origin
      const sent: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'remexec' }
      if (isSameOrigin) for (const [name, value] of headers) sent[name] = value
      if (etag !== '') sent['if-none-match'] = etag
      const answer = await this.#ask(url, sent, signal)
      const location = answer.headers['location']
      if (!REDIRECTS.has(answer.statusCode) || typeof location !== 'string') return answerOf(answer, url)
      answer.body.on('error', () => {}).destroy()
      if (redirects >= this.#options.maxRedirects) {
        throw new StatusError('ABORTED', `${shown(first)} redirects more than ${this.#options.maxRedirects} times`)
      }
      if (!URL.canParse(location, url.href)) throw new StatusError('ABORTED', `${shown(url)} redirects to no valid URL`)
      url = new URL(location, url)
    }
  }

  async close(): Promise<void> {
    const { direct, proxies } = await this.#library
    await Promise.all([direct, ...proxies.values()].map((dispatcher) => dispatcher.destroy()))
  }

  /** The way to a URL, by the option and else by the environment. */
  async #wayTo(url: URL): Promise<Dispatcher> {
    const { direct, proxies, proxied } = await this.#library
    const { proxy, addresses } = this.#options
    const uri = proxy ?? proxyOf(destinationOf(url))?.href
    if (uri === undefined) return direct
    // A proxy of the environment was not chosen for downloads, and may reach this network.
    if (proxy === undefined) await addresses.checkName(url.hostname)
    const known = proxies.get(uri)
    if (known !== undefined) return known
    const dispatcher = proxied(uri)
    proxies.set(uri, dispatcher)
    return dispatcher
  }

  async #ask(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { request } = await this.#library
    const dispatcher = await this.#wayTo(url)
    try {
      return await request(url, { dispatcher, method: 'GET', headers, signal })
    } catch (error) {
      throw originFailure(error, url, signal)
    }
  }
}

const MAX_HEADER_BYTES = 64 * 1024
const REDIRECTS = new Set([301, 302, 303, 307, 308])

const answerOf = ({ statusCode, headers, body }: Dispatcher.ResponseData, url: URL): Answer => {
  if (statusCode === 200) {
    const length = headers['content-length']
    const etag = headers['etag']
    return {
      kind: 'content',
      body,
      sizeBytes: typeof length === 'string' && /^\d+$/.test(length) ? Number(length) : undefined,
      etag: typeof etag === 'string' ? etag : '',
    }
  }
  body.on('error', () => {}).destroy()
  if (statusCode === 304) return { kind: 'unchanged' }
  throw new StatusError(CODES[statusCode] ?? 'ABORTED', `${shown(url)} answers with status ${statusCode}`)
}

const CODES: Readonly<Record<number, 'NOT_FOUND' | 'PERMISSION_DENIED' | 'RESOURCE_EXHAUSTED'>> = {
  401: 'PERMISSION_DENIED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  407: 'PERMISSION_DENIED',
  410: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
}

const SILENCE = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

/** The failure of a request, or of the body of its answer, as a status. */
export const originFailure = (thrown: unknown, url: URL, signal: AbortSignal): StatusError => {
  if (signal.aborted) return cancellation(signal)
  for (let cause = thrown; cause instanceof Error; cause = cause.cause) if (cause instanceof StatusError) return cause
  if (thrown instanceof Error && 'code' in thrown && SILENCE.has(String(thrown.code)))
    return new StatusError('DEADLINE_EXCEEDED', `${shown(url)} is silent for too long`, { cause: thrown })
  const why = errnoOf(thrown) === undefined ? 'the connection failed' : inWords(thrown)
  return new StatusError('ABORTED', `${shown(url)} cannot be downloaded: ${why}`, { cause: thrown })
}

/** A URL for messages: queries hold signatures and tokens. */
export const shown = ({ origin, pathname }: URL): string => {
  const text = `${origin}${pathname}`
  return text.length > 200 ? `${text.slice(0, 200)}...` : text
}
