import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { ClientHttp2Session } from 'node:http2'
import type { ClientOptions } from '@grpc/grpc-js'
import { codec, type Input, type Output } from '../proto/codec.js'
import { Code, type CodeName, codeName } from '../proto/status-code.js'
import { openOnWire } from '../wire/bare-call.js'
import type { CallSettings, Client, Conversation, Outcome, Outgoing } from '../wire/client.js'
import type { HttpAnswer, HttpCache, HttpKind, HttpRequest } from '../wire/http.js'
import type { Method } from '../wire/methods.js'
import * as methods from '../wire/methods.js'
import { show } from '../wire/show.js'
import { batchesOf } from './batches.js'
import type { Candidate } from './candidate.js'
import { Divergence, Lateness, NotApplicable, Refusal, WrongAnswer } from './finding.js'
import { Leftovers } from './leftovers.js'

export type Digest = { readonly hash: string; readonly sizeBytes: number }
export type Observed = string | number | boolean

/** One call: its messages in wire order (`>` sent, `<` received), and how it ended. */
export interface TranscriptLine {
  readonly method: string
  readonly messages: readonly string[]
  readonly end: string
}

const MOST_CALLS = 40
const HTTP_MS = 15_000
const CONNECT_MS = 5_000

/** One run of one check: calls with the candidate's settings, fresh content, expectations, and a transcript. */
export class Exam {
  readonly candidate: Candidate
  readonly transcript: TranscriptLine[] = []
  readonly choices: string[] = []
  /** Measured facts by name; the client profiles judge them. */
  readonly observations = new Map<string, Observed>()
  readonly #clients: Client[] = []
  readonly #sessions: ClientHttp2Session[] = []
  readonly #conversations = new Set<Conversation<unknown, unknown>>()

  readonly #actionId: string
  readonly #leftovers = new Leftovers()
  readonly #closing = new AbortController()
  #isClosed = false
  /** A call ended because the connection broke or could not be opened. */
  lostConnection = false
  /** A call missed its deadline. */
  ranOutOfTime = false

  /** `actionId` is the `action_id` in the RequestMetadata of each call: the id of the check. */
  constructor(candidate: Candidate, actionId = 'exam') {
    this.candidate = candidate
    this.#actionId = actionId
  }

  get instanceName(): string {
    return this.candidate.instanceName
  }

  get capabilities(): Candidate['capabilities'] {
    return this.candidate.capabilities
  }

  /** Aborted when the check has ended or was given up. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Records the server's choice where the protocol allows several. */
  chose(what: string): void {
    this.choices.push(what)
  }

  /**
   * Records a fact that clients read differently; `requirements/profiles.ts` lists the values that each client accepts.
   */
  observed(fact: string, value: Observed): void {
    this.observations.set(fact, value)
  }

  notApplicable(reason: string): never {
    throw new NotApplicable(reason)
  }

  async call<Q, R>(
    method: Method<Q, R>,
    requests: Outgoing<Q> | readonly Outgoing<Q>[],
    settings: CallSettings & { readonly client?: Client } = {},
  ): Promise<Outcome<R>> {
    return this.open(method, settings).sendAll(requests)
  }

  open<Q, R>(method: Method<Q, R>, settings: CallSettings & { readonly client?: Client } = {}): Conversation<Q, R> {
    const { client = this.candidate.client } = settings
    const conversation = client.open(method, { actionId: this.#actionId, ...settings })
    this.#conversations.add(conversation)
    conversation.outcome.then((outcome) => {
      this.#conversations.delete(conversation)
      this.#leftovers.note(method, outcome)
      this.note(method, outcome)
    })
    // The code of an abandoned check keeps running until its next call.
    if (this.#isClosed) conversation.cancel()
    return conversation
  }

  /** Opens another connection, which the exam closes after the check. */
  connect(channel?: ClientOptions): Client {
    const client = this.candidate.connect(channel)
    this.#clients.push(client)
    return client
  }

  /** Waits until a client is connected; that it cannot be is a divergence, and as good as a lost connection. */
  async connected(client: Client): Promise<void> {
    try {
      await client.waitForReady(CONNECT_MS)
    } catch (error) {
      this.lostConnection = true
      throw new Divergence('a connection', error instanceof Error ? error.message : String(error))
    }
  }

  /** Opens a bare HTTP/2 connection, which the exam closes after the check. */
  async openSession(): Promise<ClientHttp2Session> {
    const session = await this.candidate.openSession()
    this.#sessions.push(session)
    return session
  }

  /** The HTTP caches to examine. */
  get caches(): readonly HttpCache[] {
    return [...this.candidate.http.values()]
  }

  /** The HTTP cache of this kind, which the check needs. */
  cache(kind: HttpKind): HttpCache {
    return this.present(this.candidate.http.get(kind), `an HTTP cache of kind ${kind}`)
  }

  /** Sends a request to an HTTP cache and notes it. A lost or late answer is a divergence. */
  async send(cache: HttpCache, sent: HttpRequest): Promise<HttpAnswer> {
    const deadlineMs = this.candidate.patience.scaledMs(sent.deadlineMs ?? HTTP_MS)
    const line = `> ${sent.method} ${cache.address} ${sent.path} <${sent.body?.length ?? 0} bytes>`
    try {
      const answer = await cache.send({ ...sent, deadlineMs })
      this.#noteHttp(sent, [line, `< ${answer.status} <${answer.body.length} bytes>`], String(answer.status))
      return answer
    } catch (error) {
      const found = error instanceof Error ? error.message : String(error)
      this.#noteHttp(sent, [line], found)
      if (sent.breakAfterBytes === undefined) this.lostConnection ||= /ECONN|EPIPE|hang up/.test(found)
      throw new Divergence(`an answer to ${sent.method} ${sent.path.slice(0, 100)}`, found)
    }
  }

  #noteHttp({ method }: HttpRequest, messages: readonly string[], end: string): void {
    if (this.transcript.length < MOST_CALLS) this.transcript.push({ method: `HTTP/${method}`, messages, end })
  }

  /** Makes a call in bare HTTP/2 frames, with the headers of every call; see `openOnWire`. */
  openOnWire(
    session: ClientHttp2Session,
    method: Method<methods.Any, methods.Any>,
    headers: Readonly<Record<string, string>> = {},
  ): ReturnType<typeof openOnWire> {
    return openOnWire(session, method, { ...this.candidate.wireHeaders(this.#actionId), ...headers })
  }

  /** Ends everything that the check left open: calls, operations, connections. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#closing.abort()
    const open = [...this.#conversations]
    for (const conversation of open) conversation.cancel()
    await Promise.all(open.map(({ outcome }) => outcome))
    for (const session of this.#sessions) session.destroy()
    for (const client of this.#clients) client.close()
    const { client, patience } = this.candidate
    if (patience.reason === undefined) await this.#leftovers.cancel(client, this.#actionId)
  }

  // Content

  /** Random bytes that are new to every run of the suite. */
  random(sizeBytes: number): Buffer {
    return randomBytes(sizeBytes)
  }

  uuid(): string {
    return randomUUID()
  }

  digest(bytes: Uint8Array): Digest {
    return digestOf(bytes)
  }

  /**
   * Stores blobs (BatchUpdateBlobs; ByteStream for large ones) and returns their digests. Any code but OK is a
   * divergence.
   */
  async upload(...blobs: readonly Uint8Array[]): Promise<Digest[]> {
    const digests = blobs.map(digestOf)
    for (const batch of batchesOf(blobs, this.batchableBytes)) {
      const requests = batch.map((data) => ({ digest: digestOf(data), data }))
      const outcome = await this.call(methods.batchUpdateBlobs, { instanceName: this.instanceName, requests })
      this.expectCode(outcome, 'OK')
      for (const { status } of outcome.responses[0]?.responses ?? []) this.expectStatus(status, 'of each uploaded blob')
    }
    for (const data of blobs) {
      if (data.length > this.batchableBytes) this.expectCode(await this.write(data), 'OK')
    }
    return digests
  }

  /** Larger blobs are sent by ByteStream.Write. */
  get batchableBytes(): number {
    const announced = this.capabilities.cacheCapabilities?.maxBatchTotalSizeBytes || 4 << 20
    return Math.min(1 << 20, announced / 2)
  }

  message<N extends Parameters<typeof codec>[0]>(name: N, message: Input<N>): Buffer {
    return codec(name).encode(message)
  }

  // ByteStream

  /** `{instance/}uploads/{uuid}/{form}/{hash}/{size}`; `form` is `blobs` or `compressed-blobs/{compressor}`. */
  uploadName(digest: Digest, options: { uuid?: string; form?: string; instanceName?: string } = {}): string {
    const { uuid = randomUUID(), form = 'blobs', instanceName = this.instanceName } = options
    return `${prefix(instanceName)}uploads/${uuid}/${form}/${digest.hash}/${digest.sizeBytes}`
  }

  readName(digest: Digest, options: { form?: string; instanceName?: string } = {}): string {
    const { form = 'blobs', instanceName = this.instanceName } = options
    return `${prefix(instanceName)}${form}/${digest.hash}/${digest.sizeBytes}`
  }

  /** Uploads `data` in chunks under `resourceName` (generated if absent). */
  write(
    data: Uint8Array,
    options: CallSettings & {
      readonly resourceName?: string
      readonly chunkBytes?: number
      readonly finish?: boolean
      readonly client?: Client
    } = {},
  ): Promise<Outcome<Output<'google.bytestream.WriteResponse'>>> {
    const { chunkBytes = 256 << 10, finish = true } = options
    const resourceName = options.resourceName ?? this.uploadName(digestOf(data))
    const requests: Input<'google.bytestream.WriteRequest'>[] = []
    for (let at = 0; at === 0 || at < data.length; at += chunkBytes) {
      const chunk = data.subarray(at, at + chunkBytes)
      const finishWrite = finish && at + chunk.length >= data.length
      requests.push({ resourceName: at === 0 ? resourceName : '', writeOffset: at, data: chunk, finishWrite })
    }
    return this.call(methods.write, requests, options)
  }

  /** Reads a blob and returns the data of all responses in one buffer. */
  async read(
    resourceName: string,
    options: CallSettings & { readonly offset?: number; readonly limit?: number; readonly client?: Client } = {},
  ): Promise<Outcome<Output<'google.bytestream.ReadResponse'>> & { readonly data: Buffer }> {
    const { offset = 0, limit = 0 } = options
    const outcome = await this.call(methods.read, { resourceName, readOffset: offset, readLimit: limit }, options)
    return { ...outcome, data: Buffer.concat(outcome.responses.map(({ data }) => data)) }
  }

  /** The digests that FindMissingBlobs reports, each once: a server may name one as often as it likes. */
  async missing(digests: readonly Digest[], options: { client?: Client } = {}): Promise<string[]> {
    const request = { instanceName: this.instanceName, blobDigests: digests }
    const outcome = await this.call(methods.findMissingBlobs, request, options)
    this.expectCode(outcome, 'OK')
    const told = (outcome.responses[0]?.missingBlobDigests ?? []).map(({ hash, sizeBytes }) => `${hash}/${sizeBytes}`)
    return [...new Set(told)]
  }

  // Expectations

  expect(holds: boolean, expected: string, found: string): void {
    if (!holds) throw new Divergence(expected, found)
  }

  /** Expects a fact that depends on timing. A failure is a Lateness, because the machine may be slow. */
  expectInTime(holds: boolean, expected: string, found: string): void {
    if (!holds) throw new Lateness(expected, found)
  }

  /** Returns the value, which must be present. */
  present<T>(value: T | null | undefined, expected: string): T {
    if (value === null || value === undefined) throw new Divergence(expected, 'none')
    return value
  }

  expectEqual(found: unknown, expected: unknown, what: string): void {
    if (JSON.stringify(found) === JSON.stringify(expected)) return
    throw new Divergence(`${what} to be ${show(expected)}`, show(found))
  }

  /** Expects an answer that clients believe; a difference is wrong, whatever the level of the row. */
  expectTrue(found: unknown, expected: unknown, what: string): void {
    if (JSON.stringify(found) === JSON.stringify(expected)) return
    throw new WrongAnswer(`${what} to be ${show(expected)}`, show(found))
  }

  /** Expects a complete digest: hash and size. */
  expectDigest(found: Digest | null | undefined, expected: Digest, what: string): void {
    const told = ({ hash, sizeBytes }: Digest): string => `${hash}/${sizeBytes}`
    this.expectEqual(found ? told(found) : 'none', told(expected), what)
  }

  /** Expects the bytes that were stored or printed; others are wrong, whatever the level of the row. */
  expectBytes(found: Uint8Array, expected: Uint8Array, what: string): void {
    if (Buffer.compare(found, expected) === 0) return
    throw new WrongAnswer(`${what} to be the ${expected.length} bytes sent`, `${found.length} bytes that differ`)
  }

  /** Expects one of these codes and returns the code that came, so that a check can record the choice. */
  expectCode(outcome: Outcome<unknown>, ...codes: readonly CodeName[]): CodeName {
    const came = codeName(outcome.code) as CodeName
    if (outcome.garbage !== undefined) throw new Divergence('responses that decode', outcome.garbage)
    if (codes.some((name) => Code[name] === outcome.code)) return came
    // Whatever was expected, a method may be absent and room short.
    const isOther = outcome.code === Code.UNIMPLEMENTED || outcome.code === Code.RESOURCE_EXHAUSTED
    const Found = isOther || (codes.includes('OK') && REFUSALS.has(outcome.code)) ? Refusal : Divergence
    throw new Found(
      codes.join(' or '),
      `${came}${outcome.message === '' ? '' : ` (${outcome.message.slice(0, 300)})`}`,
      outcome.code === Code.UNIMPLEMENTED ? outcome.method : undefined,
    )
  }

  /** Expects the status of a part of an answer to be OK; an absent status is. */
  expectStatus(status: { readonly code: number; readonly message: string } | null, what: string): void {
    const { code, message } = status ?? { code: 0, message: '' }
    if (code === 0) return
    const Found = REFUSALS.has(code) ? Refusal : Divergence
    throw new Found(`the status ${what} to be OK`, `${codeName(code)} ${message.slice(0, 300)}`.trim())
  }

  /**
   * Expects any error that the server itself returned, for requirements that name no code. A missing answer does not
   * count.
   */
  expectError(outcome: Outcome<unknown>): CodeName {
    const came = codeName(outcome.code) as CodeName
    if (outcome.garbage !== undefined) throw new Divergence('responses that decode', outcome.garbage)
    if (!NO_REFUSAL.has(outcome.code)) return came
    throw new Divergence('an error', `${came} ${outcome.message.slice(0, 300)}`.trim())
  }

  /** Adds a call to the transcript. */
  note(method: { readonly service: string; readonly name: string }, outcome: Outcome<unknown>): void {
    if (isLost(outcome) && !this.#isClosed) this.lostConnection = true
    if (outcome.isOverdue && !this.#isClosed) this.ranOutOfTime = true
    if (this.transcript.length >= MOST_CALLS) return
    const { code, message, messages } = outcome
    const end = `${codeName(code)} ${message.slice(0, 300)}`.trim()
    this.transcript.push({ method: `${method.service}/${method.name}`, messages, end })
  }
}

/** The message that grpc-js gives when there is no connection; a status from a server has another text. */
const isLost = ({ code, message }: Outcome<unknown>): boolean =>
  code === Code.UNAVAILABLE &&
  /ECONN|EPIPE|Connection dropped|No connection established|connection was lost/i.test(message)

/** An error that is not the server's judgement of the request. */
const NO_REFUSAL: ReadonlySet<number> = new Set([Code.OK, Code.CANCELLED, Code.DEADLINE_EXCEEDED, Code.UNAVAILABLE])

/** Errors that say that the server does not take this request, unlike those of a fault or of absence. */
export const REFUSALS: ReadonlySet<number> = new Set([
  Code.INVALID_ARGUMENT,
  Code.RESOURCE_EXHAUSTED,
  Code.FAILED_PRECONDITION,
  Code.OUT_OF_RANGE,
  Code.UNIMPLEMENTED,
])

const prefix = (instanceName: string): string => (instanceName === '' ? '' : `${instanceName}/`)

export const digestOf = (bytes: Uint8Array): Digest => ({
  hash: createHash('sha256').update(bytes).digest('hex'),
  sizeBytes: bytes.length,
})

export const EMPTY_DIGEST: Digest = digestOf(new Uint8Array())
