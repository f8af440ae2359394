import type { Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Code, StatusError } from '../../base/status-error.js'
import { guardedTimeout } from '../../base/timers.js'
import { missingOf, type Store } from '../../blobs/store.js'
import { putUnnamed } from '../../content/put-unnamed.js'
import { type Answer, type Downloader, originFailure, shown } from '../../download/downloader.js'
import { Digest } from '../../reapi/digest.js'
import { type Call, internalCall } from '../../rpc/call.js'
import type { Scope } from '../../rpc/scope.js'
import { type Clients, FairTurns } from '../../work/fair-turns.js'
import type { AssetRecord } from './asset-record.js'
import { Flights } from './flights.js'
import { hashFor } from './integrity.js'
import type { FetchOutcome, Lookup } from './lookup.js'
import { type AssetRecords, nameOfChecksum, nameOfUri } from './records.js'

/** What to do about content whose checksum the client does not name. */
export type WithoutChecksum = 'refuse' | 'revalidate' | 'reuse'

export interface DownloadsOptions {
  readonly downloader: Downloader
  readonly cas: Store
  /** Where a caller's downloads are noted: one that asks again must not replace what another one pushed. */
  readonly recordsFor: (scope: Scope | undefined) => AssetRecords
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly maxConcurrent: number
  readonly withoutChecksum: WithoutChecksum
}

interface Request extends Lookup {
  /** Of the client. */
  readonly scope: Scope | undefined
  /** Of the client; undefined for none. */
  readonly timeoutMs: number | undefined
}

interface Flight extends Pick<Call, 'instanceName' | 'log'> {
  readonly limitMs: number
  readonly clients: Clients
  readonly signal: AbortSignal
}

const MAX_WAITING = 10_000

/**
 * Downloads of one instance. Equal requests share one. It goes on when its clients are gone, for those that come back, until others wait
 * for a turn.
 */
export class Downloads {
  readonly #options: DownloadsOptions
  readonly #flights = new Flights<FetchOutcome>(() => this.#makeWay())
  readonly #turns: FairTurns
  readonly #closing = new AbortController()

  constructor(options: DownloadsOptions) {
    this.#options = options
    this.#turns = new FairTurns({ permits: options.maxConcurrent, maxWaiting: MAX_WAITING })
  }

  /** Rejects only for failures of this server. `client` is whose turns the download takes. */
  fetch(request: Request, client: string, call: Call): Promise<FetchOutcome> {
    const { uris, qualifiers, digestFunction, timeoutMs } = request
    if (qualifiers.integrity === undefined && this.#options.withoutChecksum === 'refuse') {
      const why = 'this instance downloads nothing without a checksum, expected the qualifier checksum.sri'
      return Promise.resolve({ kind: 'failed', error: new StatusError('PERMISSION_DENIED', why) })
    }
    const headers = uris.map((uri, index) => [...qualifiers.headersFor(index, uri)])
    const key = JSON.stringify([digestFunction.name, uris, qualifiers.identifying, headers, request.scope?.name])
    const limitMs = Math.min(timeoutMs ?? Infinity, this.#options.timeoutMs)
    // Nothing of the call stays with a download that goes on without it.
    const { instanceName, log } = call
    const outcome = this.#flights.run(key, { client, signal: call.signal }, (clients, signal) =>
      this.#firstOf(request, { limitMs, clients, signal, instanceName, log }),
    )
    this.#turns.joined()
    return outcome
  }

  close(): Promise<void> {
    this.#closing.abort(new StatusError('UNAVAILABLE', 'the server stops'))
    return this.#options.downloader.close()
  }

  #makeWay(): void {
    if (this.#turns.hasWaiting) this.#flights.endAbandoned()
  }

  async #firstOf(request: Request, flight: Flight): Promise<FetchOutcome> {
    const { limitMs, clients, instanceName, log } = flight
    const late = new AbortController()
    const text = `the content could not be downloaded in ${limitMs / 1000} s`
    const timer = guardedTimeout(() => late.abort(new StatusError('DEADLINE_EXCEEDED', text)), limitMs)
    const call = internalCall({
      signal: AbortSignal.any([late.signal, flight.signal, this.#closing.signal]),
      instanceName,
      log,
    })
    try {
      const turn = this.#turns.acquire('a turn to download', call.signal, clients)
      this.#makeWay()
      const release = await outside(turn)
      try {
        return { kind: 'found', record: await this.#tryEach(request, call) }
      } finally {
        release()
      }
    } catch (error) {
      // Whatever was under way then reports only that it was cancelled.
      if (late.signal.aborted) return { kind: 'failed', error: late.signal.reason }
      if (error instanceof OriginFailure) return { kind: 'failed', error }
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** The content of the first URI that has it. A mirror that is away counts more than one without the content: it may come back. */
  async #tryEach(request: Request, call: Call): Promise<AssetRecord> {
    const failures: OriginFailure[] = []
    for (const [index, uri] of request.uris.entries()) {
      try {
        return await this.#download(index, uri, request, call)
      } catch (error) {
        if (!(error instanceof OriginFailure)) throw error
        failures.push(error)
        call.log.info('an asset was not downloaded', { error })
        if (call.signal.aborted) break
      }
    }
    const final: readonly number[] = [Code.NOT_FOUND, Code.PERMISSION_DENIED, Code.INVALID_ARGUMENT]
    throw failures.find(({ code }) => !final.includes(code)) ?? failures[0] ?? new Error('there is no URI')
  }

  async #download(index: number, uri: string, request: Request, call: Call): Promise<AssetRecord> {
    const { downloader, recordsFor } = this.#options
    const records = recordsFor(request.scope)
    const { qualifiers, digestFunction, nowMs } = request
    const url = webAddress(uri)
    const headers = qualifiers.headersFor(index, uri)
    // Content that needed credentials is only for those who have them.
    const isPublic = headers.size === 0
    const uriName = nameOfUri('download', uri, qualifiers.withoutChecksum, digestFunction)
    const asksAgain = qualifiers.integrity === undefined && isPublic
    const before = asksAgain ? await records.get(uriName, digestFunction, call) : undefined
    const { signal } = call
    const answer = await outside(downloader.get({ url, headers, etag: before?.etag ?? '', signal }))
    if (answer.kind === 'unchanged') {
      if (before === undefined)
        throw new OriginFailure(new StatusError('ABORTED', `${shown(url)} answers with status 304`))
      return this.#remember({ ...before, validAtMs: nowMs }, request, isPublic, call)
    }
    const digest = (await this.#storedAlready(answer, request, call)) ?? (await this.#store(answer, url, request, call))
    const record: AssetRecord = {
      ...{
        kind: 'blob',
        digest,
        uri,
        qualifiers: qualifiers.identifying,
        etag: answer.etag,
        blobs: [],
        directories: [],
      },
      validAtMs: nowMs,
      expiresAtMs: undefined,
    }
    return this.#remember(record, request, isPublic, call)
  }

  /** The digest of an answer if its checksum and length are those of a blob in the CAS. Its body is then not read. */
  async #storedAlready({ sizeBytes, body }: Content, request: Request, call: Call): Promise<Digest | undefined> {
    const { digestFunction, qualifiers } = request
    const { integrity } = qualifiers
    if (sizeBytes === undefined || integrity?.algorithm !== digestFunction.name.toLowerCase()) return undefined
    const digests = integrity.hashes.map((hash) => Digest.parse({ hash, sizeBytes }, digestFunction))
    const missing = new Set((await missingOf(this.#options.cas, digests, call)).map(({ key }) => key))
    const stored = digests.find(({ key }) => !missing.has(key))
    if (stored !== undefined) body.on('error', () => {}).destroy()
    return stored
  }

  #store({ body, sizeBytes }: Content, url: URL, request: Request, call: Call): Promise<Digest> {
    const { cas } = this.#options
    // Refused by what the origin says, before its first byte, or at the first byte too many.
    const maxBytes = Math.min(this.#options.maxBytes, cas.properties.maxBlobBytes)
    const { integrity } = request.qualifiers
    const hash = integrity && hashFor(integrity)
    const source = Readable.from(bytesOf(body, url, { maxBytes, sizeBytes, signal: call.signal }), {
      objectMode: false,
    })
    const check = (): void => {
      const found = (hash as Hash).digest('hex')
      if (integrity?.hashes.includes(found)) return
      const text = `the content of ${shown(url)} has the ${integrity?.algorithm} ${found}, expected ${integrity?.hashes.join(' or ')}`
      throw new OriginFailure(new StatusError('ABORTED', text))
    }
    const checks = hash && { onBytes: (bytes: Uint8Array) => void hash.update(bytes), check }
    return putUnnamed(cas, { source, digestFunction: request.digestFunction, maxBytes, ...checks }, call)
  }

  async #remember(record: AssetRecord, request: Request, isPublic: boolean, call: Call): Promise<AssetRecord> {
    const { recordsFor, withoutChecksum } = this.#options
    const records = recordsFor(request.scope)
    const { qualifiers, digestFunction } = request
    const { integrity, withoutChecksum: others } = qualifiers
    if (integrity !== undefined) {
      for (const hash of integrity.hashes.length === 1 ? integrity.hashes : [])
        await records.put(nameOfChecksum(integrity.algorithm, hash, digestFunction), record, call)
    } else if (isPublic) {
      await records.put(nameOfUri('download', record.uri, others, digestFunction), record, call)
      if (withoutChecksum === 'reuse')
        await records.put(nameOfUri('blob', record.uri, others, digestFunction), record, call)
    }
    return record
  }
}

type Content = Extract<Answer, { kind: 'content' }>

/** A failure that is not one of this server. */
class OriginFailure extends StatusError {
  constructor({ code, message, cause }: StatusError) {
    super(code, message, { cause })
  }
}

const outside = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    throw error instanceof StatusError && !(error instanceof OriginFailure) ? new OriginFailure(error) : error
  }
}

const webAddress = (uri: string): URL => {
  if (URL.canParse(uri)) return new URL(uri)
  throw new OriginFailure(new StatusError('INVALID_ARGUMENT', `${JSON.stringify(uri.slice(0, 200))} is no URL`))
}

interface BodyOptions {
  readonly maxBytes: number
  readonly sizeBytes: number | undefined
  readonly signal: AbortSignal
}

async function* bytesOf(
  body: Readable,
  url: URL,
  { maxBytes, sizeBytes, signal }: BodyOptions,
): AsyncGenerator<Buffer> {
  const tooLarge = (): OriginFailure => {
    const text = `${shown(url)} has more than ${maxBytes} bytes, expected at most that (max_size, and max_bytes of the store)`
    return new OriginFailure(new StatusError('RESOURCE_EXHAUSTED', text))
  }
  let received = 0
  try {
    if (sizeBytes !== undefined && sizeBytes > maxBytes) throw tooLarge()
    for await (const bytes of body as AsyncIterable<Buffer>) {
      received += bytes.length
      if (received > maxBytes) throw tooLarge()
      yield bytes
    }
  } catch (error) {
    throw error instanceof OriginFailure ? error : new OriginFailure(originFailure(error, url, signal))
  } finally {
    body.on('error', () => {}).destroy()
  }
}
