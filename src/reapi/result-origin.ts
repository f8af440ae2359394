import { holds, pack, unpack } from '../proto/any.js'
import { codec } from '../proto/codec.js'
import type { ActionResult } from '../proto/generated/build.bazel.remote.execution.v2.js'

const originCodec = codec('remexec.scheduler.v1.ResultOrigin')
const metadataCodec = codec('build.bazel.remote.execution.v2.ExecutedActionMetadata')

/** The origin of a result, as recorded in `ExecutedActionMetadata.auxiliary_metadata`. */
export interface ResultOrigin {
  /** Identity of the first caller that requested the run, or of the caller that uploaded the result: `token ci`. */
  readonly identity: string
  /** Empty if a client uploaded the result. */
  readonly workerId?: string
  readonly workerIdentity?: string
}

export const packedOrigin = (origin: ResultOrigin): { readonly typeUrl: string; readonly value: Buffer } =>
  pack(originCodec, origin)

const isOrigin = (any: { readonly typeUrl: string }): boolean => holds(any, originCodec)

/** The origin that a result records, if any. */
export const originOf = ({ executionMetadata }: ActionResult): ResultOrigin | undefined => {
  const packed = executionMetadata?.auxiliaryMetadata.find(isOrigin)
  return packed && unpack(originCodec, packed)
}

/** Replaces the origin that a result records; undefined removes it. */
export const setOrigin = (result: ActionResult, origin: ResultOrigin | undefined): void => {
  const others = result.executionMetadata?.auxiliaryMetadata.filter((any) => !isOrigin(any)) ?? []
  if (origin !== undefined) {
    result.executionMetadata ??= metadataCodec.decode(NOTHING)
    others.push(packedOrigin(origin))
  }
  if (result.executionMetadata !== null) result.executionMetadata.auxiliaryMetadata = others
}

/** The result without its origin, for callers that must not see it. Returns a copy, because results are shared. */
export const withoutOrigin = (result: ActionResult): ActionResult => {
  const { executionMetadata } = result
  if (executionMetadata === null || !executionMetadata.auxiliaryMetadata.some(isOrigin)) return result
  const auxiliaryMetadata = executionMetadata.auxiliaryMetadata.filter((any) => !isOrigin(any))
  return { ...result, executionMetadata: { ...executionMetadata, auxiliaryMetadata } }
}

const NOTHING = Buffer.alloc(0)
