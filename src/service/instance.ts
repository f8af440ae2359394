import { CATCH_ALL } from '../base/catch-all.js'
import { StatusError } from '../base/status-error.js'
import type { Store } from '../blobs/store.js'
import type { Compressor } from '../reapi/compressor.js'
import type { Digest } from '../reapi/digest.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import { MAX_INSTANCE_NAME_LENGTH } from '../reapi/instance-name.js'
import { RESERVED_SEGMENTS } from '../reapi/resource-name.js'
import { type Call, callWith } from '../rpc/call.js'
import type { ChunkedBlobs } from './cas/chunked-blobs.js'

/** The properties of an instance that CAS and ByteStream need. */
export interface CasInstance {
  /** A CAS view (`asCas`): it checks uploads and always contains the empty blob. */
  readonly cas: Store
  /** Accepted digest functions. The first one is the default if neither digest_function nor the hash length decides. */
  readonly digestFunctions: readonly DigestFunction[]
  /** Compressors for transfers; empty if the configuration turns compression off. */
  readonly compressors: readonly Compressor[]
  /** The largest blob that clients may upload; absent if only the store limits it. */
  readonly maxBlobBytes?: number | undefined
  /** Set if the instance splits and splices blobs. */
  readonly chunked?: ChunkedBlobs | undefined
}

/**
 * The compressor of a request, if this instance serves it. `undefined` stands for IDENTITY, which every instance
 * serves.
 */
export const servedCompressor = (
  { compressors }: Pick<CasInstance, 'compressors'>,
  chosen: Compressor | undefined,
): Compressor | undefined => {
  if (chosen === undefined || compressors.includes(chosen)) return chosen
  throw new StatusError('INVALID_ARGUMENT', `compressor ${chosen.name} is not served by this instance, expected none`)
}

/**
 * Throws INVALID_ARGUMENT for a blob that is larger than clients may upload (REAPI, max_cas_blob_size_bytes), or than the
 * store: no later attempt would succeed. Asked before the first byte of an upload whose length is known.
 */
export const checkBlobSize = (
  { maxBlobBytes, cas }: Pick<CasInstance, 'maxBlobBytes' | 'cas'>,
  { key, sizeBytes }: Digest,
): void => {
  if (maxBlobBytes !== undefined && sizeBytes > maxBlobBytes) {
    const reason = `blob ${key} is larger than uploads to this instance may be`
    throw new StatusError('INVALID_ARGUMENT', `${reason}, expected at most ${maxBlobBytes} bytes (max_blob_size)`)
  }
  const storeBytes = cas.properties.maxBlobBytes
  if (sizeBytes > storeBytes)
    throw new StatusError(
      'INVALID_ARGUMENT',
      `blob ${key} is larger than the store, which takes at most ${storeBytes} bytes, by its max_bytes`,
    )
}

/** Instances by name. The entry `CATCH_ALL` serves all names without an entry of their own. */
export type Instances<T> = ReadonlyMap<string, T>

/** The instance that serves `name`, if there is one and REAPI allows the name. */
export const servedInstance = <T>(instances: Instances<T>, name: string): T | undefined => {
  const instance = instances.get(name)
  if (instance !== undefined || !instances.has(CATCH_ALL)) return instance
  return faultOf(name) === undefined ? instances.get(CATCH_ALL) : undefined
}

/**
 * The instance that a request names. Unknown and malformed names are INVALID_ARGUMENT, never NOT_FOUND, because clients
 * treat NOT_FOUND as a cache miss.
 */
export const instanceOf = <T>(instances: Instances<T>, name: string): T => {
  const instance = servedInstance(instances, name)
  if (instance !== undefined) return instance
  const shown = JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}...` : name)
  const fault = faultOf(name)
  if (fault !== undefined) throw new StatusError('INVALID_ARGUMENT', `instance name ${shown} is not valid: ${fault}`)
  const names = [...instances.keys()].slice(0, 20).map((known) => JSON.stringify(known))
  const expected = names.length === 0 ? 'none is served here' : `expected one of ${names.join(', ')}`
  throw new StatusError('INVALID_ARGUMENT', `instance name ${shown} is not configured, ${expected}`)
}

/** Why no instance can have this name (REAPI, instance_name); undefined if the name is valid. */
const faultOf = (name: string): string | undefined => {
  if (name === '') return undefined
  if (name.length > MAX_INSTANCE_NAME_LENGTH) return `it is longer than ${MAX_INSTANCE_NAME_LENGTH} characters`
  const segments = name.split('/')
  const reserved = segments.find((segment) => RESERVED_SEGMENTS.includes(segment))
  if (reserved !== undefined) return `${reserved} is reserved in REAPI`
  return segments.includes('') ? 'it has an empty segment' : undefined
}

/** The call for stores: with the instance name of the request. */
export const inInstance = (call: Call, instanceName: string): Call => {
  call.isFor?.(instanceName)
  return callWith(call, { instanceName })
}
