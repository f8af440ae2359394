import { StatusError } from '../../../base/status-error.js'
import type { ExperimentalCloudObjectStoreOptions as Options } from '../../../config/config.js'
import type { SecretLearner } from '../../../log/secrets.js'
import type { VersionedBucket } from '../../objects/bucket.js'
import { allowedAddress, authorities, MAX_CONNECTIONS, ONTAP_PART_BYTES } from '../../objects/open.js'
import { openS3, type S3Options } from '../../objects/s3.js'
import { openAzure } from './azure.js'
import { openGcs } from './gcs.js'

type Provider = Options['provider']

const PART_BYTES = 5_000_000

/** Opens the bucket of a configuration with the client library of its provider. Sends no request yet. */
export const openBucket = (options: Options, secrets: SecretLearner): Promise<VersionedBucket> =>
  openers[options.provider](options, secrets)

const openers: Readonly<Record<Provider, (options: Options, secrets: SecretLearner) => Promise<VersionedBucket>>> = {
  gcs: async (options) => {
    const bucket = needed(options, 'bucket')
    const { endpoint } = options
    return openGcs({
      name: `gcs bucket ${bucket}`,
      bucket,
      endpoint: endpoint ? allowed(options, endpoint) : undefined,
      needsCredentials: options.authentication_required,
      partBytes: options.resumable_chunk_size,
      maxConnections: MAX_CONNECTIONS,
      connectTimeoutMs: options.connection_timeout_s * 1000,
    })
  },
  azure: async (options) => {
    const container = needed(options, 'container')
    const { sas_url: sasUrl } = options
    const address = sasUrl ?? (options.endpoint || `https://${needed(options, 'account_name')}.blob.core.windows.net`)
    return openAzure({
      name: `azure container ${container}`,
      container,
      address: allowed(options, address),
      isSigned: sasUrl !== undefined,
      partBytes: options.max_retry_buffer_per_request ?? PART_BYTES,
    })
  },
  aws: async (options, secrets) => {
    const endpoint =
      options.endpoint || process.env['AWS_ENDPOINT_URL_S3'] || process.env['AWS_ENDPOINT_URL'] || undefined
    const place = { endpoint, region: options.region, isCompatible: endpoint !== undefined }
    return openS3(s3Options(options, place), secrets)
  },
  ontap: async (options, secrets) => {
    const s3 = {
      ...s3Options(options, { endpoint: needed(options, 'endpoint'), region: needed(options, 'vserver_name') }),
      certificates: await authorities(options.root_certificates),
      partBytes: options.max_retry_buffer_per_request ?? ONTAP_PART_BYTES,
    }
    return openS3(s3, secrets)
  },
  r2: async (options, secrets) => {
    const endpoint = options.endpoint || `https://${needed(options, 'account_id')}.r2.cloudflarestorage.com`
    return openS3(s3Options(options, { endpoint, region: 'auto' }), secrets)
  },
  oci: async (options, secrets) => {
    const region = needed(options, 'region')
    const endpoint =
      options.endpoint || `https://${needed(options, 'namespace')}.compat.objectstorage.${region}.oci.customer-oci.com`
    return openS3(s3Options(options, { endpoint, region }), secrets)
  },
}

const s3Options = (
  options: Options,
  {
    endpoint,
    region,
    isCompatible = true,
  }: {
    readonly endpoint: string | undefined
    readonly region: string | undefined
    readonly isCompatible?: boolean
  },
): S3Options => {
  const bucket = needed(options, 'bucket')
  return {
    name: `${options.provider} bucket ${bucket}`,
    bucket,
    region,
    endpoint: endpoint === undefined ? undefined : allowed(options, endpoint),
    credentials: keysOf(options),
    certificates: undefined,
    isCompatible,
    partBytes: options.max_retry_buffer_per_request ?? PART_BYTES,
    maxConnections: MAX_CONNECTIONS,
  }
}

const keysOf = ({
  access_key_id: accessKeyId,
  secret_access_key: secretAccessKey,
}: Options): S3Options['credentials'] => {
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined
  if (accessKeyId !== undefined && secretAccessKey !== undefined) return { accessKeyId, secretAccessKey }
  throw new StatusError(
    'FAILED_PRECONDITION',
    'found one of access_key_id and secret_access_key, expected both or none',
  )
}

const needed = (
  options: Options,
  key: 'bucket' | 'container' | 'region' | 'endpoint' | 'vserver_name' | 'account_name' | 'account_id' | 'namespace',
): string => {
  const value = options[key]
  if (value !== undefined && value !== '') return value
  throw new StatusError('FAILED_PRECONDITION', `provider ${options.provider} needs ${key}`)
}

const allowed = ({ insecure_allow_http: allowsHttp }: Options, address: string): string =>
  allowedAddress(address, allowsHttp)
