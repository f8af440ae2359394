import type { ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { constants } from 'node:http2'

import type { Any, Method } from '../../wire/methods.js'
import type { Answer, Call, Ending, Tampering } from '../mutation.js'
import { closeAfter } from './close-after.js'
import { definitionOf, type WireMethod } from './definition-of.js'
import { type Framed, framed, messagesOf, writeFrame } from './frames.js'

const UNKNOWN = 2

/** A call that is split into messages, passed through the hooks, and reassembled. */
export class TamperedCall implements Call<Any> {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly halfClosed: Promise<void>
  request: Any
  readonly #definition: WireMethod
  readonly #hooks: readonly Tampering[]
  readonly #client: ServerHttp2Stream
  readonly #openServer: (headers: OutgoingHttpHeaders) => ClientHttp2Stream
  #server: ClientHttp2Stream | undefined

  constructor(
    client: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    how: { readonly definition: WireMethod; readonly hooks: readonly Tampering[] },
    openServer: (headers: OutgoingHttpHeaders) => ClientHttp2Stream,
  ) {
    this.path = headers[':path'] ?? ''
    this.headers = headers
    this.#client = client
    this.#definition = how.definition
    this.#hooks = how.hooks
    this.#openServer = openServer
    this.halfClosed = new Promise((resolve) => client.once('end', resolve).once('close', resolve))
  }

  /** Settles when the call is finished; never throws. */
  async run(): Promise<void> {
    this.#client.once('close', () => this.#server?.close(this.#client.rstCode || constants.NGHTTP2_CANCEL))
    try {
      await this.#requests()
    } catch {
      // Either side cancelled; the other side learns it here and from `close`.
      this.#server?.close(this.#client.rstCode || constants.NGHTTP2_CANCEL)
    }
  }

  async ask<A, B>(method: Method<A, B>, request: A): Promise<B[]> {
    const definition = definitionOf(`/${method.service}/${method.name}`)
    const { ':authority': authority, ':scheme': scheme } = this.headers
    const server = this.#openServer({
      ':method': 'POST',
      ':path': definition.path,
      ':authority': authority,
      ':scheme': scheme,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    let status: IncomingHttpHeaders = {}
    server.once('response', (headers) => {
      status = headers
    })
    server.once('trailers', (trailers) => {
      status = trailers
    })
    server.end(framed({ isCompressed: false, bytes: definition.request.encode(request as object) }))
    const responses: B[] = []
    for await (const { bytes } of messagesOf(server)) responses.push(definition.response.decode(bytes) as B)
    if (status['grpc-status'] !== '0') throw new Error(`${method.name}: ${status['grpc-message']}`)
    return responses
  }

  async #requests(): Promise<void> {
    let answers: Promise<void> | undefined
    for await (const message of messagesOf(this.#client)) {
      if (answers === undefined) {
        this.request = message.isCompressed ? undefined : this.#definition.request.decode(message.bytes)
        if (await this.#isAnswered()) return
        answers = this.#relayed()
      }
      for (const each of await this.#changedRequest(message)) if (this.#server) await writeFrame(this.#server, each)
    }
    if (answers === undefined) {
      if (await this.#isAnswered()) return
      answers = this.#relayed()
    }
    if (this.#server?.writable && !this.#client.destroyed) this.#server.end()
    await answers
  }

  /** Opens the upstream call and returns its messages. */
  #relayed(): Promise<void> {
    const headers: OutgoingHttpHeaders = { ...this.headers }
    // The hooks need to read what comes back.
    delete headers['grpc-accept-encoding']
    for (const hook of this.#hooks) hook.headers?.(headers as Record<string, string | string[] | undefined>)
    const server = this.#openServer(headers)
    this.#server = server
    return this.#responses(server).catch(() => this.#client.close(server.rstCode || constants.NGHTTP2_CANCEL))
  }

  async #changedRequest(message: Framed): Promise<readonly Framed[]> {
    const hooks = this.#hooks.flatMap(({ request }) => request ?? [])
    if (hooks.length === 0 || message.isCompressed) return [message]
    const messages = await this.#through(hooks, this.#definition.request.decode(message.bytes))
    return messages.map((each) => ({ isCompressed: false, bytes: this.#definition.request.encode(each) }))
  }

  async #changedResponse(message: Framed): Promise<readonly Framed[]> {
    const hooks = this.#hooks.flatMap(({ response }) => response ?? [])
    if (hooks.length === 0 || message.isCompressed) return [message]
    const messages = await this.#through(hooks, this.#definition.response.decode(message.bytes))
    return messages.map((each) => this.#encoded(each))
  }

  async #through(hooks: readonly NonNullable<Tampering['response']>[], message: Any): Promise<Any[]> {
    let messages: Any[] = [message]
    for (const hook of hooks) {
      const changed: Any[] = []
      for (const each of messages) changed.push(...((await hook(each, this)) ?? [each]))
      messages = changed
    }
    return messages
  }

  #encoded(response: Any): Framed {
    return { isCompressed: false, bytes: this.#definition.response.encode(response) }
  }

  async #responses(server: ClientHttp2Stream): Promise<void> {
    let status: IncomingHttpHeaders = {}
    server.once('response', (headers) => {
      if (headers['grpc-status'] === undefined) this.#start()
      else status = headers
    })
    server.once('trailers', (trailers) => {
      status = trailers
    })
    for await (const message of messagesOf(server)) {
      for (const each of await this.#changedResponse(message)) await this.#send(each)
    }
    if (status['grpc-status'] === undefined) throw new Error('the server broke the call off')
    const ending = endingOf(status)
    for (const { ending: change } of this.#hooks) await change?.(ending, this)
    for (const { more } of this.#hooks) {
      for (const each of (await more?.(this, ending)) ?? []) await this.#send(this.#encoded(each))
    }
    this.#end(ending)
    // A server that ends early stops reading in its own way; the client is told so in the same way.
    if (server.closed) closeAfter(this.#client, undefined)
    else server.once('close', () => closeAfter(this.#client, undefined))
  }

  async #isAnswered(): Promise<boolean> {
    for (const { answer } of this.#hooks) {
      const given: Answer | undefined = answer?.(this.request, this)
      if (given === undefined) continue
      if (given === 'reset') this.#client.close(constants.NGHTTP2_INTERNAL_ERROR)
      if (given === 'silence' || given === 'reset') return true
      for (const each of given.responses ?? []) await this.#send(this.#encoded(each))
      this.#end(given.ending)
      this.#client.resume()
      return true
    }
    return false
  }

  #start(): void {
    if (this.#client.headersSent || this.#client.destroyed) return
    this.#client.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  }

  async #send(message: Framed): Promise<void> {
    this.#start()
    await writeFrame(this.#client, message)
  }

  #end(ending: Ending): void {
    this.#start()
    this.#client.once('wantTrailers', () => this.#client.sendTrailers(trailersOf(ending)))
    this.#client.end()
  }
}

const endingOf = (headers: IncomingHttpHeaders): Ending => {
  const details = headers['grpc-status-details-bin']
  return {
    code: Number(headers['grpc-status'] ?? UNKNOWN),
    message: decodeURIComponent(String(headers['grpc-message'] ?? '')),
    details: details === undefined ? undefined : Buffer.from(String(details), 'base64'),
  }
}

const trailersOf = ({ code, message, details }: Ending): OutgoingHttpHeaders => ({
  'grpc-status': String(code),
  ...(message === '' ? {} : { 'grpc-message': encodeURIComponent(message) }),
  ...(details === undefined ? {} : { 'grpc-status-details-bin': details.toString('base64') }),
})
