import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import type { Storage as GcsStorage, StorageOptions } from '@google-cloud/storage'
import { StatusError } from '../../../base/status-error.js'
import {
  type BucketLimits,
  codeOfRefusal,
  type ObjectFacts,
  type ObjectPart,
  type OpenObject,
  type PartedUpload,
  type VersionedBucket,
} from '../../objects/bucket.js'
import { networkFailure } from '../../remote/failure.js'
import { optionalPackage } from '../../remote/optional-package.js'
import { type GcsAnswer, type GcsRequest, GcsRequests, type GcsRequestsOptions } from './gcs-request.js'
import { GcsUpload } from './gcs-upload.js'

export interface GcsOptions extends GcsRequestsOptions {
  readonly name: string
  readonly bucket: string
  /** Default: Google's. Requests to another server carry credentials only if `needsCredentials`. */
  readonly endpoint: string | undefined
  readonly needsCredentials: boolean
  readonly partBytes: number
}

const DEFAULT_ENDPOINT = 'https://storage.googleapis.com'

/** Parts of a resumable upload must be multiples of this. */
const PART_UNIT_BYTES = 256 * 1024

export const openGcs = async (options: GcsOptions): Promise<VersionedBucket> => {
  const { Storage } = await optionalPackage('@google-cloud/storage', () => import('@google-cloud/storage'))
  const { endpoint, needsCredentials } = options
  const given: StorageOptions = {
    useAuthWithCustomEndpoint: needsCredentials,
    ...(endpoint === undefined ? {} : { apiEndpoint: endpoint }),
  }
  const storage = new Storage(given)
  const isElsewhere = storage.apiEndpoint !== new Storage().apiEndpoint || process.env['STORAGE_EMULATOR_HOST']
  const usesCredentials = (needsCredentials || !isElsewhere) && (await hasCredentials(storage, needsCredentials))
  if (usesCredentials || isElsewhere) return new GcsBucket(storage, usesCredentials, options)
  // Setting the endpoint explicitly makes the library send no credentials.
  return new GcsBucket(new Storage({ ...given, apiEndpoint: DEFAULT_ENDPOINT }), false, options)
}

const hasCredentials = async (storage: GcsStorage, areNeeded: boolean): Promise<boolean> => {
  try {
    await storage.authClient.getClient()
    return true
  } catch (error) {
    if (!areNeeded) return false
    const message =
      'no credentials for Google Cloud: expected GOOGLE_APPLICATION_CREDENTIALS, or a machine that has some'
    throw new StatusError('FAILED_PRECONDITION', message, { cause: error })
  }
}

/** A bucket of Google Cloud Storage. */
class GcsBucket implements VersionedBucket {
  readonly name: string
  readonly limits: BucketLimits
  readonly #storage: GcsStorage
  readonly #bucket: string
  readonly #usesCredentials: boolean
  readonly #requests: GcsRequests

  constructor(storage: GcsStorage, usesCredentials: boolean, options: GcsOptions) {
    const { name, bucket, partBytes } = options
    this.name = name
    const unitBytes = Math.ceil(partBytes / PART_UNIT_BYTES) * PART_UNIT_BYTES
    const maxParts = Number.POSITIVE_INFINITY
    this.limits = { partBytes: unitBytes, wholeBytes: unitBytes, maxParts, isSequential: true }
    this.#storage = storage
    this.#bucket = bucket
    this.#usesCredentials = usesCredentials
    this.#requests = new GcsRequests(options)
  }

  async stat(key: string, signal: AbortSignal): Promise<ObjectFacts | undefined> {
    const url = this.#url(pathOf(key), { fields: 'size,timeCreated,generation' })
    const answer = await this.#ask('GET', url, signal).catch(undefinedIfAbsent)
    if (answer === undefined) return undefined
    const { size = 0, timeCreated = '', generation = '' } = (await json(answer.body)) as StoredObject
    return { sizeBytes: Number(size), writtenAtMs: Date.parse(timeCreated), version: generation }
  }

  async read(key: string, part: ObjectPart, signal: AbortSignal): Promise<OpenObject | undefined> {
    const { offset, end, version } = part
    const isPart = offset > 0 || Number.isFinite(end)
    try {
      const url = this.#url(pathOf(key), mediaOf(version))
      const wanted = isPart ? { range: `bytes=${offset}-${Number.isFinite(end) ? end - 1 : ''}` } : {}
      const { headers, body } = await this.#ask('GET', url, signal, { headers: wanted })
      return openObjectOf(headers, body, offset)
    } catch (error) {
      // The version was replaced or removed.
      if (statusOf(error) === 404 && version !== undefined) {
        throw new StatusError('ABORTED', `${this.name}: an object was replaced while it was read`, { cause: error })
      }
      return undefinedIfAbsent(error)
    }
  }

  async write(key: string, bytes: Buffer, isNew: boolean, signal: AbortSignal): Promise<boolean> {
    const query = { uploadType: 'media', name: key, ...(isNew && { ifGenerationMatch: '0' }) }
    const url = this.#url('o', query, 'upload/')
    const headers = { 'content-type': 'application/octet-stream' }
    try {
      const { body } = await this.#ask('POST', url, signal, { headers, body: bytes })
      body.resume()
      return true
    } catch (error) {
      if (isNew && statusOf(error) === 412) return false
      if (statusOf(error) !== 404) throw error
      throw new StatusError('FAILED_PRECONDITION', `${this.name} is not there`, { cause: error })
    }
  }

  async writeIf(
    key: string,
    bytes: Buffer,
    version: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    // Emulators heed conditions of uploads with metadata only.
    const query = { uploadType: 'multipart', name: key, ifGenerationMatch: version ?? '0', fields: 'generation' }
    const boundary = randomUUID()
    const headers = { 'content-type': `multipart/related; boundary=${boundary}` }
    const metadata = `--${boundary}\r\ncontent-type: application/json\r\n\r\n${JSON.stringify({ name: key })}\r\n`
    const content = `--${boundary}\r\ncontent-type: application/octet-stream\r\n\r\n`
    const parts = Buffer.concat([Buffer.from(metadata + content), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)])
    try {
      const { body } = await this.#ask('POST', this.#url('o', query, 'upload/'), signal, { headers, body: parts })
      return ((await json(body)) as StoredObject).generation
    } catch (error) {
      if (statusOf(error) === 412) return undefined
      return undefinedIfAbsent(error)
    }
  }

  async begin(key: string, signal: AbortSignal): Promise<PartedUpload> {
    const url = this.#url('o', { uploadType: 'resumable', name: key }, 'upload/')
    const { headers, body } = await this.#ask('POST', url, signal)
    body.resume()
    if (headers.location === undefined) throw new StatusError('UNAVAILABLE', `${this.name} began no upload`)
    return new GcsUpload(this.#requests, headers.location)
  }

  /** Google's rules count from the creation, so the object is copied onto itself; within a bucket no byte moves. */
  async refresh(key: string, { version }: ObjectFacts, signal: AbortSignal): Promise<boolean> {
    const path = `${pathOf(key)}/rewriteTo/b/${encodeURIComponent(this.#bucket)}/${pathOf(key)}`
    const match = { ifSourceGenerationMatch: version, ifGenerationMatch: version }
    for (let rewriteToken: string | undefined; ; ) {
      try {
        const url = this.#url(path, { ...match, ...(rewriteToken !== undefined && { rewriteToken }) })
        const answer = await this.#ask('POST', url, signal).catch(undefinedIfAbsent)
        if (answer === undefined) return false
        const { done = false, rewriteToken: next } = (await json(answer.body)) as Rewritten
        if (done || next === undefined) return true
        rewriteToken = next
      } catch (error) {
        if (statusOf(error) === 412) return true
        throw error
      }
    }
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    const answer = await this.#ask('DELETE', this.#url(pathOf(key)), signal).catch(undefinedIfAbsent)
    answer?.body.resume()
  }

  async ping(signal: AbortSignal): Promise<void> {
    const { body } = await this.#ask('GET', this.#url('o', { maxResults: '1' }), signal)
    body.resume()
  }

  failureOf(thrown: unknown): StatusError {
    const known = networkFailure(this.name, thrown)
    if (known !== undefined) return known
    const status = statusOf(thrown)
    if (!(thrown instanceof Error)) return StatusError.from(thrown)
    // From the HTTP library below Google's. Connection errors have a code, handled above.
    if (thrown.name === 'FetchError' || thrown.name === 'AbortError')
      return new StatusError('UNAVAILABLE', `${this.name} did not answer`, { cause: thrown })
    if (status === undefined) return StatusError.from(thrown)
    const word = isWithoutBucket(thrown) ? 'NoSuchBucket' : wordOf(thrown)
    return new StatusError(codeOfRefusal({ status, word }), `${this.name} refused: ${word || status}`, {
      cause: thrown,
    })
  }

  async #ask(
    method: GcsRequest['method'],
    url: string,
    signal: AbortSignal,
    { headers, body }: Pick<GcsRequest, 'headers' | 'body'> = {},
  ): Promise<GcsAnswer> {
    const all = { ...(await this.#credentials()), ...headers }
    return this.#requests.send(url, { method, signal, headers: all, ...(body && { body }) })
  }

  #url(path: string, query: Readonly<Record<string, string>> = {}, kind = ''): string {
    const bucket = encodeURIComponent(this.#bucket)
    return `${this.#storage.apiEndpoint}/${kind}storage/v1/b/${bucket}/${path}?${new URLSearchParams(query)}`
  }

  async #credentials(): Promise<Record<string, string>> {
    return this.#usesCredentials ? await this.#storage.authClient.getRequestHeaders() : {}
  }

  close(): void {
    this.#requests.close()
  }
}

/** The requested metadata fields of an object; numbers arrive as text. */
interface StoredObject {
  readonly size?: string
  readonly timeCreated?: string
  readonly generation?: string
}

/** Progress of a rewrite: a large object may take several requests. */
interface Rewritten {
  readonly done?: boolean
  readonly rewriteToken?: string
}

const pathOf = (key: string): string => `o/${encodeURIComponent(key)}`

const mediaOf = (version: string | undefined): Record<string, string> =>
  version === undefined ? { alt: 'media' } : { alt: 'media', generation: version }

const openObjectOf = (headers: IncomingHttpHeaders, body: Readable, offset: number): OpenObject => {
  const partBytes = Number(headers['content-length'] ?? 0)
  const wholeBytes = Number(/\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1] ?? partBytes)
  return {
    sizeBytes: wholeBytes,
    writtenAtMs: Date.parse(headers['last-modified'] ?? ''),
    version: String(headers['x-goog-generation'] ?? ''),
    body,
    end: offset + partBytes,
  }
}

/** The HTTP status. Google's library reports it differently for its own credential requests. */
const statusOf = (thrown: unknown): number | undefined => {
  const { code, response } = Object(thrown) as { code?: unknown; response?: { readonly status?: unknown } }
  const status = typeof code === 'string' && /^\d+$/.test(code) ? Number(code) : code
  return [status, response?.status].find((found) => typeof found === 'number')
}

const wordOf = (thrown: Error): string =>
  (thrown as { readonly errors?: readonly { readonly reason?: string }[] }).errors?.[0]?.reason ?? ''

/** Whether the bucket is missing, not only the object. Only the error text shows the difference. */
const isWithoutBucket = (thrown: unknown): boolean =>
  statusOf(thrown) === 404 && thrown instanceof Error && /bucket does not exist/i.test(thrown.message)

const undefinedIfAbsent = (thrown: unknown): undefined => {
  if (statusOf(thrown) !== 404 || isWithoutBucket(thrown)) throw thrown
}
