import { StatusError } from '../base/status-error.js'
import { type Compressor, compressorOfSegment } from './compressor.js'
import { Digest, resolveDigestFunction } from './digest.js'
import { type DigestFunction, digestFunctions } from './digest-function.js'

/** A blob as named by a ByteStream resource name. `blobDigest` converts it once the instance is known. */
export interface BlobName {
  readonly instanceName: string
  readonly compressor: Compressor | undefined
  /** The function of the digest-function segment, which only some functions have. */
  readonly digestFunction: DigestFunction | undefined
  readonly hash: string
  readonly sizeBytes: number
}

export interface UploadName extends BlobName {
  /** Chosen by the client: any text without a slash. It distinguishes uploads of the same blob. */
  readonly uuid: string
}

/**
 * Segments that no instance name may contain (REAPI, "instance_name"). So the first such segment of a
 * resource name ends the instance name.
 */
export const RESERVED_SEGMENTS: readonly string[] = [
  'blobs',
  'uploads',
  'actions',
  'actionResults',
  'operations',
  'capabilities',
  'compressed-blobs',
]

const READ_FORM =
  '{instance_name/}blobs/{digest_function/}{hash}/{size} or ' +
  '{instance_name/}compressed-blobs/{compressor}/{digest_function/}{hash}/{size}'

const WRITE_FORM =
  '{instance_name/}uploads/{uuid}/blobs/{digest_function/}{hash}/{size} or ' +
  '{instance_name/}uploads/{uuid}/compressed-blobs/{compressor}/{digest_function/}{hash}/{size}'

/** Parses the name of a ByteStream.Read. INVALID_ARGUMENT states the fault and the expected form. */
export const parseReadName = (name: string): BlobName => {
  const refuse = refusal(name, READ_FORM)
  const { instanceName, rest } = splitInstance(name, refuse)
  if (rest[0] === 'uploads') throw refuse('it names an upload')
  const { blob, after } = parseBlob(rest, refuse)
  if (after.length > 0) throw refuse('something follows the size')
  return { instanceName, ...blob }
}

/**
 * Parses the name of a ByteStream.Write or QueryWriteStatus. Segments after the size belong to the client and
 * are ignored.
 */
export const parseWriteName = (name: string): UploadName => {
  const refuse = refusal(name, WRITE_FORM)
  const { instanceName, rest } = splitInstance(name, refuse)
  const [uploads, uuid, ...named] = rest
  if (uploads !== 'uploads') throw refuse('it names no upload')
  if (uuid === undefined || uuid === '') throw refuse('the uuid is missing')
  return { instanceName, uuid, ...parseBlob(named, refuse).blob }
}

export const formatReadName = (instanceName: string, digest: Digest, compressor?: Compressor): string =>
  `${prefix(instanceName)}${formatBlob(digest, compressor)}`

export const formatWriteName = (instanceName: string, uuid: string, digest: Digest, compressor?: Compressor): string =>
  `${prefix(instanceName)}uploads/${uuid}/${formatBlob(digest, compressor)}`

/**
 * The digest of a name in an instance that serves `served`. Without a function segment the hash length
 * determines the function. If BLAKE3 is served and SHA256 is not, the bare form means BLAKE3, as Buck2 sends
 * it.
 */
export const blobDigest = (name: BlobName, served: readonly DigestFunction[]): Digest => {
  const { value } = name.digestFunction ?? { value: 0 }
  return Digest.parse(name, resolveDigestFunction(value, name.hash, served), 'the digest in resource_name')
}

type Refusal = (reason: string) => StatusError

const refusal =
  (name: string, form: string): Refusal =>
  (reason) => {
    const shown = JSON.stringify(name.length > 300 ? `${name.slice(0, 300)}...` : name)
    return new StatusError('INVALID_ARGUMENT', `resource_name ${shown} is not valid: ${reason}; expected ${form}`)
  }

const splitInstance = (name: string, refuse: Refusal): { instanceName: string; rest: readonly string[] } => {
  if (name === '') throw refuse('it is empty')
  // A leading slash is tolerated: moon, for example, sends an empty instance name and a slash.
  const segments = (name.startsWith('/') ? name.slice(1) : name).split('/')
  const end = segments.findIndex((segment) => RESERVED_SEGMENTS.includes(segment))
  if (end < 0) throw refuse('it has no blobs, compressed-blobs or uploads segment')
  const instance = segments.slice(0, end)
  if (instance.includes('')) throw refuse('the instance name has an empty segment')
  return { instanceName: instance.join('/'), rest: segments.slice(end) }
}

type Blob = Omit<BlobName, 'instanceName'>

const parseBlob = (segments: readonly string[], refuse: Refusal): { blob: Blob; after: readonly string[] } => {
  const [kind, ...parts] = segments
  if (kind !== 'blobs' && kind !== 'compressed-blobs') throw refuse('blobs or compressed-blobs is missing')
  const compressor = kind === 'compressed-blobs' ? compressorOfSegment(parts.shift() ?? '') : undefined
  const digestFunction = segmentFunctions.get(parts[0] ?? '')
  if (digestFunction !== undefined) parts.shift()
  const [hash, size, ...after] = parts
  if (hash === undefined || hash === '') throw refuse('the hash is missing')
  if (size === undefined || size === '') throw refuse('the size is missing')
  if (!/^(0|[1-9][0-9]*)$/.test(size)) throw refuse('the size is not a decimal number')
  const sizeBytes = Number(size)
  if (!Number.isSafeInteger(sizeBytes)) throw refuse('the size is above 2^53-1')
  return { blob: { compressor, digestFunction, hash, sizeBytes }, after }
}

const segmentFunctions: ReadonlyMap<string, DigestFunction> = new Map(
  Object.values(digestFunctions).flatMap((candidate) =>
    candidate.segment === undefined ? [] : [[candidate.segment, candidate] as const],
  ),
)

const prefix = (instanceName: string): string => (instanceName === '' ? '' : `${instanceName}/`)

const formatBlob = (digest: Digest, compressor: Compressor | undefined): string => {
  const kind = compressor === undefined ? 'blobs/' : `compressed-blobs/${compressor.segment}/`
  const { segment } = digest.function
  return `${kind}${segment === undefined ? '' : `${segment}/`}${digest.hash}/${digest.sizeBytes}`
}
