import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { BlockBlobClient, ContainerClient, StoragePipelineOptions } from '@azure/storage-blob'
import { StatusError } from '../../../base/status-error.js'
import {
  type BucketLimits,
  codeOfRefusal,
  type ObjectChunk,
  type ObjectFacts,
  type ObjectPart,
  type OpenObject,
  type PartedUpload,
  type VersionedBucket,
} from '../../objects/bucket.js'
import { networkFailure } from '../../remote/failure.js'
import { optionalPackage } from '../../remote/optional-package.js'

export interface AzureOptions {
  readonly name: string
  readonly container: string
  /**
   * The account, `https://ACCOUNT.blob.core.windows.net`, or a signed URL. That is the credential, and may include the
   * container.
   */
  readonly address: string
  readonly isSigned: boolean
  readonly partBytes: number
}

const MAX_PARTS = 50_000

export const openAzure = async (options: AzureOptions): Promise<VersionedBucket> => {
  const { container, address, isSigned } = options
  const sdk = await optionalPackage('@azure/storage-blob', () => import('@azure/storage-blob'))
  // The store retries requests, in the same way for all providers.
  const pipeline: StoragePipelineOptions = { retryOptions: { maxTries: 1 } }
  const isOfContainer = isSigned && new URL(address).pathname.split('/').at(-1) === container
  if (isOfContainer) return new AzureContainer(new sdk.ContainerClient(address, undefined, pipeline), options)
  const credential = isSigned ? undefined : await ambientCredential()
  const service = new sdk.BlobServiceClient(address, credential, pipeline)
  return new AzureContainer(service.getContainerClient(container), options)
}

/** The credential chain of Azure's library: environment, workload and managed identity, developer tools. */
const ambientCredential = async () => {
  const { DefaultAzureCredential } = await optionalPackage('@azure/identity', () => import('@azure/identity'))
  return new DefaultAzureCredential()
}

/** A container of Azure Blob Storage. */
class AzureContainer implements VersionedBucket {
  readonly name: string
  readonly limits: BucketLimits
  readonly #container: ContainerClient

  constructor(container: ContainerClient, { name, partBytes }: AzureOptions) {
    this.name = name
    this.limits = { partBytes, wholeBytes: partBytes, maxParts: MAX_PARTS, isSequential: false }
    this.#container = container
  }

  async stat(key: string, abortSignal: AbortSignal): Promise<ObjectFacts | undefined> {
    const answer = await this.#blob(key).getProperties({ abortSignal }).catch(undefinedIfAbsent)
    return answer && factsOf(answer, answer.contentLength)
  }

  async read(key: string, part: ObjectPart, abortSignal: AbortSignal): Promise<OpenObject | undefined> {
    const { offset, end, version } = part
    const count = Number.isFinite(end) ? end - offset : undefined
    const options = {
      abortSignal,
      maxRetryRequests: 0,
      ...(version === undefined ? {} : { conditions: { ifMatch: version } }),
    }
    const answer = await this.#blob(key).download(offset, count, options).catch(undefinedIfAbsent)
    if (answer === undefined) return undefined
    const { readableStreamBody, contentRange, contentLength = 0 } = answer
    const wholeBytes = Number(/\/(\d+)$/.exec(contentRange ?? '')?.[1] ?? contentLength)
    return { ...factsOf(answer, wholeBytes), body: readableStreamBody as Readable, end: offset + contentLength }
  }

  async write(key: string, bytes: Buffer, isNew: boolean, abortSignal: AbortSignal): Promise<boolean> {
    const options = { abortSignal, ...(isNew ? { conditions: { ifNoneMatch: '*' } } : {}) }
    try {
      await this.#blob(key).upload(bytes, bytes.length, options)
      return true
    } catch (error) {
      const status = statusOf(error)
      if (isNew && (status === 409 || status === 412)) return false
      throw error
    }
  }

  async writeIf(
    key: string,
    bytes: Buffer,
    version: string | undefined,
    abortSignal: AbortSignal,
  ): Promise<string | undefined> {
    const conditions = version === undefined ? { ifNoneMatch: '*' } : { ifMatch: version }
    try {
      return (await this.#blob(key).upload(bytes, bytes.length, { abortSignal, conditions })).etag
    } catch (error) {
      const status = statusOf(error)
      if (status === 409 || status === 412) return undefined
      return undefinedIfAbsent(error)
    }
  }

  async begin(key: string): Promise<PartedUpload> {
    return new AzureUpload(this.#blob(key))
  }

  /** Azure's rules count from the last modification, which includes that of the metadata. */
  async refresh(key: string, { version }: ObjectFacts, abortSignal: AbortSignal): Promise<boolean> {
    try {
      const conditions = { ifMatch: version }
      const answer = await this.#blob(key).setMetadata({}, { abortSignal, conditions }).catch(undefinedIfAbsent)
      return answer !== undefined
    } catch (error) {
      if (statusOf(error) === 412) return true
      throw error
    }
  }

  async remove(key: string, abortSignal: AbortSignal): Promise<void> {
    await this.#blob(key).deleteIfExists({ abortSignal })
  }

  async ping(abortSignal: AbortSignal): Promise<void> {
    await this.#container.getProperties({ abortSignal })
  }

  failureOf(thrown: unknown): StatusError {
    const known = networkFailure(this.name, thrown)
    if (known !== undefined) return known
    if (!(thrown instanceof Error)) return StatusError.from(thrown)
    const status = statusOf(thrown)
    const { code } = thrown as { readonly code?: unknown }
    const word = typeof code === 'string' ? code : status === undefined ? thrown.name : `HTTP ${status}`
    // If the caller aborted the request, it ignores this error. So it means that the connection was lost.
    if (word === 'REQUEST_SEND_ERROR' || word === 'AbortError')
      return new StatusError('UNAVAILABLE', `${this.name}: the connection was lost`, { cause: thrown })
    return new StatusError(codeOfRefusal({ status, word }), `${this.name} refused: ${word}`, { cause: thrown })
  }

  /** Does nothing: the library shares its connections among all clients and closes idle ones. */
  close(): void {}

  #blob(key: string): BlockBlobClient {
    return this.#container.getBlockBlobClient(key)
  }
}

/**
 * Uploads uncommitted blocks, which become visible when they are committed as a list. A commit drops uncommitted blocks
 * of concurrent uploads of the same blob; those uploads then count as written and overwritten. Azure drops blocks that
 * are never committed after a week: there is no request to delete them.
 */
class AzureUpload implements PartedUpload {
  readonly #blob: BlockBlobClient
  /** Block names have equal length. The random part keeps those of concurrent uploads apart. */
  readonly #id = randomBytes(12).toString('hex')
  readonly #names: string[] = []

  constructor(blob: BlockBlobClient) {
    this.#blob = blob
  }

  async send({ index, bytes }: ObjectChunk, abortSignal: AbortSignal): Promise<void> {
    const name = Buffer.from(`${this.#id}-${String(index).padStart(8, '0')}`).toString('base64')
    await this.#blob.stageBlock(name, bytes, bytes.length, { abortSignal })
    this.#names[index] = name
  }

  async complete(abortSignal: AbortSignal): Promise<void> {
    try {
      await this.#blob.commitBlockList(this.#names, { abortSignal })
    } catch (error) {
      const { code } = error as { readonly code?: unknown }
      if (code !== 'InvalidBlockList' || !(await this.#blob.exists({ abortSignal }))) throw error
    }
  }

  async abort(): Promise<void> {}
}

const factsOf = ({ lastModified, etag = '' }: { lastModified?: Date; etag?: string }, sizeBytes = 0): ObjectFacts => ({
  sizeBytes,
  writtenAtMs: lastModified?.getTime() ?? 0,
  version: etag,
})

const statusOf = (thrown: unknown): number | undefined =>
  (thrown as { readonly statusCode?: number } | undefined)?.statusCode

/** A missing container is an error, a missing object is not. */
const undefinedIfAbsent = (thrown: unknown): undefined => {
  const { code } = thrown as { readonly code?: unknown }
  if (statusOf(thrown) !== 404 || code === 'ContainerNotFound') throw thrown
}
