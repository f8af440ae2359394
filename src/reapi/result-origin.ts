import { holds, pack, unpack } from '../proto/any.js'
import { codec } from '../proto/codec.js'
import type { ActionResult } from '../proto/generated/build.bazel.remote.execution.v2.js'

const originCodec = codec('remexec.scheduler.v1.ResultOrigin')
const metadataCodec = codec('build.bazel.remote.execution.v2.ExecutedActionMetadata')

/** Where a result comes from, as `ExecutedActionMetadata.auxiliary_metadata` tells it. */
export interface ResultOrigin {
  /** Who asked for the run first, or gave the result to the action cache: `token ci`. */
  readonly identity: string
  /** Empty where a client gave the result. */
  readonly workerId?: string
  readonly workerIdentity?: string
}

export const packedOrigin = (origin: ResultOrigin): { readonly typeUrl: string; readonly value: Buffer } =>
  pack(originCodec, origin)

const isOrigin = (any: { readonly typeUrl: string }): boolean => holds(any, originCodec)

/** What a result says of where it comes from. */
export const originOf = ({ executionMetadata }: ActionResult): ResultOrigin | undefined => {
  const told = executionMetadata?.auxiliaryMetadata.find(isOrigin)
  return told && unpack(originCodec, told)
}

/** Has a result say this of where it comes from, or nothing, whatever it said before. */
export const setOrigin = (result: ActionResult, origin: ResultOrigin | undefined): void => {
  const others = result.executionMetadata?.auxiliaryMetadata.filter((any) => !isOrigin(any)) ?? []
  if (origin !== undefined) {
    result.executionMetadata ??= metadataCodec.decode(NOTHING)
    others.push(packedOrigin(origin))
  }
  if (result.executionMetadata !== null) result.executionMetadata.auxiliaryMetadata = others
}

/** The result as it is shown to those who are not to know where it comes from. It is shared: the one that is given stays as it is. */
export const withoutOrigin = (result: ActionResult): ActionResult => {
  const { executionMetadata } = result
  if (executionMetadata === null || !executionMetadata.auxiliaryMetadata.some(isOrigin)) return result
  const auxiliaryMetadata = executionMetadata.auxiliaryMetadata.filter((any) => !isOrigin(any))
  return { ...result, executionMetadata: { ...executionMetadata, auxiliaryMetadata } }
}

const NOTHING = Buffer.alloc(0)
