import { Agent, type IncomingMessage, request } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { TargetError, type TargetSettings, tlsOf } from './target.js'

/** The kinds of HTTP caches that rows know: the protocols of build tools that have a text or a reference client. */
export const HTTP_KINDS = ['bazel', 'ccache', 'gradle', 'turborepo', 'nx', 'webdav', 'plain'] as const
export type HttpKind = (typeof HTTP_KINDS)[number]

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  /** Whether the server keeps the connection open. */
  readonly isKept: boolean
}

export interface HttpRequest {
  readonly method: string
  /** Below the address, without a leading slash. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** Sends the body in chunks, without its length. */
  readonly isChunked?: boolean
  /** Waits for 100 Continue before the body. */
  readonly expectsContinue?: boolean
  /** Breaks the connection after this many bytes of the body. */
  readonly breakAfterBytes?: number
  readonly deadlineMs?: number
}

/** One HTTP cache. Requests share connections that are kept open, up to sixteen. */
export class HttpCache {
  readonly kind: HttpKind
  readonly address: string
  readonly #base: URL
  readonly #headers: Readonly<Record<string, string>>
  readonly #agent: Agent | SecureAgent

  constructor(kind: HttpKind, address: string, headers: Readonly<Record<string, string>>, tls: TargetSettings['tls']) {
    this.kind = kind
    this.address = address
    this.#base = new URL(address.endsWith('/') ? address : `${address}/`)
    const { username, password } = this.#base
    const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
    this.#headers = { ...(username === '' ? {} : { authorization: `Basic ${basic}` }), ...headers }
    const pool = { keepAlive: true, maxSockets: 16 }
    this.#agent = this.#base.protocol === 'https:' ? new SecureAgent({ ...pool, ...tlsOf(tls) }) : new Agent(pool)
  }

  /** Throws an error with the system's code when there is no answer. */
  send(sent: HttpRequest): Promise<HttpAnswer> {
    const {
      method,
      path,
      body,
      isChunked = false,
      expectsContinue = false,
      breakAfterBytes,
      deadlineMs = 15_000,
    } = sent
    const headers = {
      ...this.#headers,
      ...sent.headers,
      ...(body !== undefined && !isChunked ? { 'content-length': String(body.length) } : {}),
      ...(expectsContinue ? { expect: '100-continue' } : {}),
    }
    const open = this.#base.protocol === 'https:' ? secureRequest : request
    return new Promise((resolve, reject) => {
      const call = open(new URL(path, this.#base), { method, headers, agent: this.#agent, timeout: deadlineMs })
      call.once('error', reject)
      call.once('timeout', () => call.destroy(new Error(`no answer within ${deadlineMs} ms`)))
      call.once('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', reject)
        response.once('aborted', () => reject(new Error('the answer broke off')))
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
            isKept: response.headers.connection?.toLowerCase() !== 'close',
          }),
        )
      })
      if (breakAfterBytes !== undefined) {
        call.write(body?.subarray(0, breakAfterBytes), () => call.destroy(new Error('broken off by the suite')))
      } else if (expectsContinue) call.once('continue', () => call.end(body))
      else if (isChunked && body !== undefined) {
        call.write(body.subarray(0, body.length >> 1))
        call.end(body.subarray(body.length >> 1))
      } else call.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** `http://HOST:PORT/PATH` is Bazel's cache; `KIND+http://HOST:PORT/PATH` another. Throws a TargetError. */
export const httpAddressOf = (text: string): { readonly kind: HttpKind; readonly address: string } => {
  const [, name = 'bazel', address = ''] = /^(?:([a-z]+)\+)?(https?:\/\/\S+)$/.exec(text) ?? []
  const kind = HTTP_KINDS.find((each) => each === name)
  if (address === '' || kind === undefined || !URL.canParse(address))
    throw new TargetError(
      `--http ${text}: expected http://HOST:PORT/PATH, or KIND+http://... with ${HTTP_KINDS.join(', ')}`,
    )
  return { kind, address }
}
