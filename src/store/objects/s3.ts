import type { Readable } from 'node:stream'
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { StatusError } from '../../base/status-error.js'
import type { SecretLearner } from '../../log/secrets.js'
import { outgoingAgents } from '../../outgoing/http-agents.js'
import { boundedMap, LANES } from '../../work/bounded-map.js'
import { networkFailure } from '../remote/failure.js'
import { optionalPackage } from '../remote/optional-package.js'
import {
  type BucketLimits,
  codeOfRefusal,
  type ObjectChunk,
  type ObjectFacts,
  type ObjectList,
  type ObjectPart,
  type OpenObject,
  type PartedUpload,
  type VersionedBucket,
} from './bucket.js'

export interface S3Options {
  readonly name: string
  readonly bucket: string
  /** Default: what the SDK finds (AWS_REGION, profile). */
  readonly region: string | undefined
  /** Default: the provider's endpoint of the region, or what the SDK finds (AWS_ENDPOINT_URL_S3). */
  readonly endpoint: string | undefined
  /** Default: the credential chain of the SDK (environment, profile, role of the machine). */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
  /** PEM of the authorities to trust instead of those of the system. */
  readonly certificates: string | undefined
  /** The server is not Amazon's and may support less of the protocol. */
  readonly isCompatible: boolean
  readonly partBytes: number
  readonly maxConnections: number
}

/** S3's limits: minimum size of a part other than the last, and parts per upload. */
const MIN_PART_BYTES = 5 * 1024 * 1024
const MAX_PARTS = 10_000

/** Amazon copies up to 5 GB in one request, and as much in a part of an upload. */
const COPY_MAX_BYTES = 5_000_000_000
const COPIED_PART_BYTES = 512 * 1024 * 1024

const ABORT_TIMEOUT_MS = 10_000
const CONNECT_TIMEOUT_MS = 5000

/** How long idle connections stay open. */
const IDLE_CONNECTION_MS = 30_000

export const openS3 = async (options: S3Options, secrets: SecretLearner): Promise<VersionedBucket> => {
  const sdk = await optionalPackage('@aws-sdk/client-s3', () => import('@aws-sdk/client-s3'))
  // Suppresses the SDK's warning about future Node versions, which is of no use to operators.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
  const client = new sdk.S3Client(configOf(options))
  await client.config.region().catch((error: unknown) => {
    client.destroy()
    throw new StatusError('FAILED_PRECONDITION', 'no region: expected `region`, or AWS_REGION', { cause: error })
  })
  const learned = learnedCredentials(secrets)
  // Called for each request, before it is signed. The SDK keeps credentials until they have to be renewed.
  client.middlewareStack.add(
    (next) => async (request) => {
      learned(await client.config.credentials())
      return next(request)
    },
    { step: 'build', name: 'learnCredentials' },
  )
  return new S3Bucket(sdk, client, options)
}

/**
 * Hides the credentials of a client in the log, because error answers of servers may repeat them. Those before the last
 * renewal stay hidden too, because requests in flight use them.
 */
const learnedCredentials = (secrets: SecretLearner) => {
  let current = ''
  let forgetCurrent = (): void => {}
  let forgetPrevious = (): void => {}
  return ({ secretAccessKey, sessionToken = '' }: { secretAccessKey: string; sessionToken?: string }): void => {
    if (secretAccessKey === current) return
    current = secretAccessKey
    forgetPrevious()
    forgetPrevious = forgetCurrent
    forgetCurrent = secrets.learn([secretAccessKey, sessionToken])
  }
}

const configOf = ({
  region,
  endpoint,
  credentials,
  certificates,
  isCompatible,
  maxConnections,
}: S3Options): S3ClientConfig => {
  const agent = { keepAlive: true, keepAliveMsecs: IDLE_CONNECTION_MS, maxSockets: maxConnections }
  const agents = outgoingAgents(agent, certificates === undefined ? {} : { ca: certificates })
  return {
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    // Bucket names in host names need wildcard DNS, which self-hosted servers seldom have.
    forcePathStyle: isCompatible,
    // The store retries requests, in the same way for all providers.
    maxAttempts: 1,
    // A checksum that Amazon stores with the object. Other servers may not support it.
    requestChecksumCalculation: isCompatible ? 'WHEN_REQUIRED' : 'WHEN_SUPPORTED',
    // Responses are verified against the digest instead.
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      httpAgent: agents.http,
      httpsAgent: agents.https,
    },
  }
}

type Sdk = typeof import('@aws-sdk/client-s3')

/** A bucket of Amazon S3 or of a compatible server. */
class S3Bucket implements VersionedBucket {
  readonly name: string
  readonly limits: BucketLimits
  readonly #sdk: Sdk
  readonly #client: S3Client
  readonly #bucket: string
  /** Whether the server supports conditional writes; some compatible servers do not. */
  #knowsConditions = true
  /** Whether an object copied onto itself is as young as a new one; some compatible servers change its metadata only. */
  #copiesAreNew = true

  constructor(sdk: Sdk, client: S3Client, { name, bucket, partBytes }: S3Options) {
    this.name = name
    const unitBytes = Math.max(MIN_PART_BYTES, partBytes)
    this.limits = { partBytes: unitBytes, wholeBytes: unitBytes, maxParts: MAX_PARTS, isSequential: false }
    this.#sdk = sdk
    this.#client = client
    this.#bucket = bucket
  }

  async stat(key: string, abortSignal: AbortSignal): Promise<ObjectFacts | undefined> {
    const command = new this.#sdk.HeadObjectCommand({ Bucket: this.#bucket, Key: key })
    const answer = await this.#client.send(command, { abortSignal }).catch(undefinedIfAbsent)
    return answer && factsOf(answer, answer.ContentLength)
  }

  async list(prefix: string, from: string | undefined, abortSignal: AbortSignal): Promise<ObjectList> {
    const command = new this.#sdk.ListObjectsV2Command({
      Bucket: this.#bucket,
      Prefix: prefix,
      ...(from === undefined ? {} : { ContinuationToken: from }),
    })
    const { Contents = [], NextContinuationToken } = await this.#client.send(command, { abortSignal })
    const objects = Contents.map(({ Key = '', Size, ...facts }) => ({ key: Key, ...factsOf(facts, Size) }))
    return { objects, next: NextContinuationToken }
  }

  async read(key: string, part: ObjectPart, abortSignal: AbortSignal): Promise<OpenObject | undefined> {
    const { offset, end, version } = part
    const command = new this.#sdk.GetObjectCommand({
      Bucket: this.#bucket,
      Key: key,
      ...(offset > 0 || end < Number.POSITIVE_INFINITY
        ? { Range: `bytes=${offset}-${Number.isFinite(end) ? end - 1 : ''}` }
        : {}),
      ...(version === undefined ? {} : { IfMatch: version }),
    })
    const answer = await this.#client.send(command, { abortSignal }).catch(undefinedIfAbsent)
    if (answer === undefined) return undefined
    const { Body, ContentRange, ContentLength = 0 } = answer
    const wholeBytes = Number(/\/(\d+)$/.exec(ContentRange ?? '')?.[1] ?? ContentLength)
    return { ...factsOf(answer, wholeBytes), body: Body as Readable, end: offset + ContentLength }
  }

  async write(key: string, bytes: Buffer, isNew: boolean, abortSignal: AbortSignal): Promise<boolean> {
    const isConditional = isNew && this.#knowsConditions
    const command = new this.#sdk.PutObjectCommand({
      Bucket: this.#bucket,
      Key: key,
      Body: bytes,
      ContentLength: bytes.length,
      ...(isConditional ? { IfNoneMatch: '*' } : {}),
    })
    try {
      await this.#client.send(command, { abortSignal })
      return true
    } catch (error) {
      const status = statusOf(error)
      // 409: another client is writing the object right now.
      if (isConditional && (status === 412 || status === 409)) return false
      if (!isConditional || status !== 501) throw error
      this.#knowsConditions = false
      return this.write(key, bytes, false, abortSignal)
    }
  }

  async writeIf(
    key: string,
    bytes: Buffer,
    version: string | undefined,
    abortSignal: AbortSignal,
  ): Promise<string | undefined> {
    const condition = version === undefined ? { IfNoneMatch: '*' } : { IfMatch: version }
    const target = { Bucket: this.#bucket, Key: key, Body: bytes, ContentLength: bytes.length }
    try {
      return (await this.#client.send(new this.#sdk.PutObjectCommand({ ...target, ...condition }), { abortSignal }))
        .ETag
    } catch (error) {
      const status = statusOf(error)
      if (status === 412 || status === 409) return undefined
      return undefinedIfAbsent(error)
    }
  }

  begin(key: string, abortSignal: AbortSignal): Promise<PartedUpload> {
    return this.#begin(key, abortSignal)
  }

  async #begin(key: string, abortSignal: AbortSignal): Promise<S3Upload> {
    const target = { Bucket: this.#bucket, Key: key }
    const command = new this.#sdk.CreateMultipartUploadCommand(target)
    const { UploadId } = await this.#client.send(command, { abortSignal })
    return new S3Upload(this.#sdk, this.#client, { ...target, UploadId })
  }

  async refresh(key: string, facts: ObjectFacts, abortSignal: AbortSignal): Promise<boolean> {
    try {
      if (facts.sizeBytes <= COPY_MAX_BYTES && this.#copiesAreNew) {
        const writtenAtMs = await this.#copyOntoItself(key, facts.version, abortSignal)
        if (writtenAtMs === undefined || writtenAtMs > facts.writtenAtMs) return writtenAtMs !== undefined
        this.#copiesAreNew = false
      }
      return await this.#copyInParts(key, facts, abortSignal)
    } catch (error) {
      // Another version is there by now.
      const status = statusOf(error)
      if (status === 412 || status === 409) return true
      return undefinedIfAbsent(error) ?? false
    }
  }

  /**
   * Resolves with the time of the new object; undefined if there is no object. Only Amazon compares the version of the
   * target too: elsewhere an object written during the copy may be replaced by its older version.
   */
  async #copyOntoItself(key: string, version: string, abortSignal: AbortSignal): Promise<number | undefined> {
    const command = new this.#sdk.CopyObjectCommand({
      ...{ Bucket: this.#bucket, Key: key, CopySource: this.#sourceOf(key) },
      ...{ CopySourceIfMatch: version, IfMatch: version },
      // An object may be copied onto itself only with new metadata; ours has none.
      MetadataDirective: 'REPLACE',
    })
    const answer = await this.#client.send(command, { abortSignal }).catch(undefinedIfAbsent)
    if (answer === undefined) return undefined
    const writtenAtMs = answer.CopyObjectResult?.LastModified?.getTime() ?? Number.POSITIVE_INFINITY
    // The answer to HEAD has whole seconds.
    return Math.floor(writtenAtMs / 1000) * 1000
  }

  /** For large objects, and for servers where an object copied onto itself keeps its age. */
  async #copyInParts(key: string, { sizeBytes, version }: ObjectFacts, abortSignal: AbortSignal): Promise<boolean> {
    if (sizeBytes === 0) return this.write(key, Buffer.alloc(0), false, abortSignal)
    const upload = await this.#begin(key, abortSignal)
    try {
      const count = Math.ceil(sizeBytes / COPIED_PART_BYTES)
      await boundedMap(Array.from({ length: count }), LANES, (_, index) => {
        const from = index * COPIED_PART_BYTES
        const range = `bytes=${from}-${Math.min(sizeBytes, from + COPIED_PART_BYTES) - 1}`
        return upload.copy(index, { source: this.#sourceOf(key), version, range }, abortSignal)
      })
      await upload.complete(abortSignal)
      return true
    } catch (error) {
      // What is left of it, the rule of the bucket for incomplete uploads removes.
      await upload.abort(AbortSignal.timeout(ABORT_TIMEOUT_MS)).catch(() => {})
      throw error
    }
  }

  #sourceOf(key: string): string {
    return `${this.#bucket}/${key}`.split('/').map(encodeURIComponent).join('/')
  }

  async remove(key: string, abortSignal: AbortSignal): Promise<void> {
    const command = new this.#sdk.DeleteObjectCommand({ Bucket: this.#bucket, Key: key })
    await this.#client.send(command, { abortSignal }).catch(undefinedIfAbsent)
  }

  async ping(abortSignal: AbortSignal): Promise<void> {
    await this.#client.send(new this.#sdk.HeadBucketCommand({ Bucket: this.#bucket }), { abortSignal })
  }

  failureOf(thrown: unknown): StatusError {
    const known = networkFailure(this.name, thrown)
    if (known !== undefined) return known
    if (!(thrown instanceof Error)) return StatusError.from(thrown)
    // If the caller aborted the request, it ignores this error. So it means that the connection failed.
    if (thrown.name === 'TimeoutError' || thrown.name === 'AbortError')
      return new StatusError('UNAVAILABLE', `${this.name} did not answer`, { cause: thrown })
    const status = statusOf(thrown)
    // A response to HEAD has no body, so no error name.
    const word = thrown.name === 'Unknown' ? `HTTP ${status}` : thrown.name
    return new StatusError(codeOfRefusal({ status, word }), `${this.name} refused: ${word}`, { cause: thrown })
  }

  close(): void {
    this.#client.destroy()
  }
}

interface CopiedPart {
  readonly source: string
  readonly version: string
  readonly range: string
}

/** A multipart upload. */
class S3Upload implements PartedUpload {
  readonly #sdk: Sdk
  readonly #client: S3Client
  readonly #target: { readonly Bucket: string; readonly Key: string; readonly UploadId: string | undefined }
  /** ETags of the parts, by index. */
  readonly #tags: (string | undefined)[] = []

  constructor(sdk: Sdk, client: S3Client, target: { Bucket: string; Key: string; UploadId: string | undefined }) {
    this.#sdk = sdk
    this.#client = client
    this.#target = target
  }

  async send({ index, bytes }: ObjectChunk, abortSignal: AbortSignal): Promise<void> {
    const command = new this.#sdk.UploadPartCommand({
      ...this.#target,
      PartNumber: index + 1,
      Body: bytes,
      ContentLength: bytes.length,
    })
    this.#tags[index] = (await this.#client.send(command, { abortSignal })).ETag
  }

  /** As `send`, with bytes of another object. */
  async copy(index: number, { source, version, range }: CopiedPart, abortSignal: AbortSignal): Promise<void> {
    const command = new this.#sdk.UploadPartCopyCommand({
      ...this.#target,
      PartNumber: index + 1,
      ...{ CopySource: source, CopySourceIfMatch: version, CopySourceRange: range },
    })
    this.#tags[index] = (await this.#client.send(command, { abortSignal })).CopyPartResult?.ETag
  }

  async complete(abortSignal: AbortSignal): Promise<void> {
    const Parts = this.#tags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }))
    const command = new this.#sdk.CompleteMultipartUploadCommand({ ...this.#target, MultipartUpload: { Parts } })
    try {
      await this.#client.send(command, { abortSignal })
    } catch (error) {
      // A retry after a lost response: if the object exists, the first attempt succeeded.
      if (!(error instanceof Error && error.name === 'NoSuchUpload')) throw error
      const { Bucket, Key } = this.#target
      await this.#client.send(new this.#sdk.HeadObjectCommand({ Bucket, Key }), { abortSignal }).catch(() => {
        throw error
      })
    }
  }

  async abort(abortSignal: AbortSignal): Promise<void> {
    const command = new this.#sdk.AbortMultipartUploadCommand(this.#target)
    await this.#client.send(command, { abortSignal }).catch(undefinedIfAbsent)
  }
}

const factsOf = (
  { LastModified, ETag = '' }: { LastModified?: Date | undefined; ETag?: string | undefined },
  sizeBytes = 0,
): ObjectFacts => ({ sizeBytes, writtenAtMs: LastModified?.getTime() ?? 0, version: ETag })

const statusOf = (thrown: unknown): number | undefined =>
  (thrown as { readonly $metadata?: { readonly httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode

/** A missing bucket is an error, a missing object is not. */
const undefinedIfAbsent = (thrown: unknown): undefined => {
  if (statusOf(thrown) !== 404 || (thrown instanceof Error && thrown.name === 'NoSuchBucket')) throw thrown
}
