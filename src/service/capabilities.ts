import type {
  GetCapabilitiesRequest,
  PriorityCapabilitiesInput,
  ServerCapabilitiesInput,
} from '../proto/generated/build.bazel.remote.execution.v2.js'
import {
  DigestFunction as DigestFunctionValue,
  SymlinkAbsolutePathStrategy,
} from '../proto/generated/build.bazel.remote.execution.v2.js'
import type { Chunking } from '../reapi/chunking.js'
import type { Compressor } from '../reapi/compressor.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import type { Permission } from '../rpc/gate.js'
import type { RpcCall, Service } from '../rpc/rpc.js'
import { type Instances, instanceOf } from './instance.js'

export interface CapabilitiesInstance {
  /** Of all services of the instance, the preferred one first. */
  readonly digestFunctions: readonly DigestFunction[]
  /** Undefined if the instance serves neither CAS nor action cache. */
  readonly cache: CacheCapabilities | undefined
  /** Undefined if the instance does not serve Execute. */
  readonly execution: ExecutionCapabilities | undefined
}

export interface CacheCapabilities {
  /** Whether UpdateActionResult is allowed. Bazel refuses to start if it is to upload results and this is false. */
  readonly isUpdateEnabled: boolean
  readonly maxBatchBytes: number
  /** The preferred one first. */
  readonly compressors: readonly Compressor[]
  /** How the instance cuts blobs; undefined if it does not split them. */
  readonly chunking: Chunking | undefined
  /** The largest blob that clients may upload, if there is a limit. */
  readonly maxBlobBytes: number | undefined
}

export interface ExecutionCapabilities {
  /** The range of accepted priorities; lower values run sooner. */
  readonly minPriority: number
  readonly maxPriority: number
  /** Names accepted in output_node_properties. */
  readonly nodeProperties: readonly string[]
}

/**
 * Clients compare their own version with this range: Bazel up to 6 and Please require 2.0 in it. Clients send
 * output_paths from 2.1 on and Action.platform from 2.2 on. 2.3 adds compressors and several digest functions.
 */
const LOW_API_VERSION = { major: 2, minor: 0, patch: 0 }
const HIGH_API_VERSION = { major: 2, minor: 3, patch: 0 }

export const capabilitiesService = (instances: Instances<CapabilitiesInstance>): Service => ({
  name: 'build.bazel.remote.execution.v2.Capabilities',
  instances,
  unary: {
    GetCapabilities: async (
      { instanceName }: GetCapabilitiesRequest,
      { visitor }: Pick<RpcCall, 'visitor'>,
    ): Promise<ServerCapabilitiesInput> => {
      const may = (permission: Permission): boolean => visitor?.may(permission, instanceName) ?? true
      const { digestFunctions, cache, execution } = instanceOf(instances, instanceName)
      return {
        lowApiVersion: LOW_API_VERSION,
        highApiVersion: HIGH_API_VERSION,
        cacheCapabilities: cache && cacheCapabilities(cache, digestFunctions, may('write_ac')),
        executionCapabilities: execution && executionCapabilities(execution, digestFunctions, may('execute')),
      }
    },
  },
})

const cacheCapabilities = (
  { isUpdateEnabled, maxBatchBytes, compressors: served, chunking, maxBlobBytes }: CacheCapabilities,
  digestFunctions: readonly DigestFunction[],
  mayUpdate: boolean,
): ServerCapabilitiesInput['cacheCapabilities'] => ({
  digestFunctions: digestFunctions.map(({ value }) => value),
  actionCacheUpdateCapabilities: { updateEnabled: isUpdateEnabled && mayUpdate },
  // ResultsCachePolicy.priority is accepted and has no effect. Bazel refuses its flag if no range is announced.
  cachePriorityCapabilities: priorities(MIN_INT32, MAX_INT32),
  maxBatchTotalSizeBytes: maxBatchBytes,
  symlinkAbsolutePathStrategy: SymlinkAbsolutePathStrategy.ALLOWED,
  supportedCompressors: served.map(({ value }) => value),
  supportedBatchUpdateCompressors: served.map(({ value }) => value),
  // 0 states no limit: the store decides which sizes fit.
  maxCasBlobSizeBytes: maxBlobBytes ?? 0,
  splitBlobSupport: chunking !== undefined,
  spliceBlobSupport: chunking !== undefined,
  ...chunking?.announced,
})

const executionCapabilities = (
  { minPriority, maxPriority, nodeProperties }: ExecutionCapabilities,
  digestFunctions: readonly DigestFunction[],
  mayExecute: boolean,
): ServerCapabilitiesInput['executionCapabilities'] => {
  const values = digestFunctions.map(({ value }) => value)
  return {
    // The Go SDK and Bazel up to 6 read only this field and support only SHA256.
    digestFunction: values.includes(DigestFunctionValue.SHA256) ? DigestFunctionValue.SHA256 : values[0],
    digestFunctions: values,
    execEnabled: mayExecute,
    executionPriorityCapabilities: priorities(minPriority, maxPriority),
    supportedNodeProperties: nodeProperties,
  }
}

const priorities = (minPriority: number, maxPriority: number): PriorityCapabilitiesInput => ({
  priorities: [{ minPriority, maxPriority }],
})

const MIN_INT32 = -(2 ** 31)
const MAX_INT32 = 2 ** 31 - 1
