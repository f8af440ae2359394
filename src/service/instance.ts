import { type Call, callWith } from '../base/call.js'
import { CATCH_ALL } from '../base/catch-all.js'
import { StatusError } from '../base/status-error.js'
import type { Compressor } from '../reapi/compressor.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import { MAX_INSTANCE_NAME_LENGTH } from '../reapi/instance-name.js'
import { RESERVED_SEGMENTS } from '../reapi/resource-name.js'
import type { Store } from '../store/store.js'
import type { ChunkedBlobs } from './cas/chunked-blobs.js'

/** What CAS and ByteStream need to know of an instance. */
export interface CasInstance {
  /** A CAS view (`asCas`): it checks uploads and always has the empty blob. */
  readonly cas: Store
  /** What digests may be made with; the first stands for an unset digest_function where nothing tells more. */
  readonly digestFunctions: readonly DigestFunction[]
  /** What transfers may be compressed with; none where the configuration turns it off. */
  readonly compressors: readonly Compressor[]
  /** Where blobs are split and spliced. */
  readonly chunked?: ChunkedBlobs | undefined
}

/** The compressor a request chose, if this instance serves it; `undefined` stands for IDENTITY, which all do. */
export const servedCompressor = (
  { compressors }: Pick<CasInstance, 'compressors'>,
  chosen: Compressor | undefined,
): Compressor | undefined => {
  if (chosen === undefined || compressors.includes(chosen)) return chosen
  throw new StatusError('INVALID_ARGUMENT', `compressor ${chosen.name} is not served by this instance, expected none`)
}

/** By name; `CATCH_ALL` serves the names that have no entry of their own. */
export type Instances<T> = ReadonlyMap<string, T>

/** The instance of that name, if it is served and REAPI allows the name. */
export const servedInstance = <T>(instances: Instances<T>, name: string): T | undefined => {
  const instance = instances.get(name)
  if (instance !== undefined || !instances.has(CATCH_ALL)) return instance
  return faultOf(name) === undefined ? instances.get(CATCH_ALL) : undefined
}

/**
 * The instance a request names. An unknown one is INVALID_ARGUMENT, never NOT_FOUND, which clients take for a cache miss;
 * so is a name that REAPI does not allow.
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

/** What makes a name one that no instance can have (REAPI, instance_name). */
const faultOf = (name: string): string | undefined => {
  if (name === '') return undefined
  if (name.length > MAX_INSTANCE_NAME_LENGTH) return `it is longer than ${MAX_INSTANCE_NAME_LENGTH} characters`
  const segments = name.split('/')
  const reserved = segments.find((segment) => RESERVED_SEGMENTS.includes(segment))
  if (reserved !== undefined) return `${reserved} is reserved in REAPI`
  return segments.includes('') ? 'it has an empty segment' : undefined
}

/** The call as stores see it: with the instance that the request names. */
export const inInstance = (call: Call, instanceName: string): Call => callWith(call, { instanceName })
