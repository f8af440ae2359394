import { holds, pack, unpack } from '../proto/any.js'
import { codec } from '../proto/codec.js'
import type { ActionResult } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from './digest.js'
import type { DigestFunction } from './digest-function.js'

const keptCodec = codec('remexec.scheduler.v1.KeptResponse')
const historicalCodec = codec('remexec.worker.v1.HistoricalExecuteResponse')
const metadataCodec = codec('build.bazel.remote.execution.v2.ExecutedActionMetadata')

/** A response that a CAS keeps for pages, because its result is in no action cache. */
export const historicalResponse = historicalCodec

/** Says in a result where its response is kept. */
export const setKeptResponse = (result: ActionResult, digest: Digest): void => {
  result.executionMetadata ??= metadataCodec.decode(Buffer.alloc(0))
  const metadata = result.executionMetadata
  const others = metadata.auxiliaryMetadata.filter((any) => !holds(any, keptCodec))
  metadata.auxiliaryMetadata = [...others, pack(keptCodec, { digest: digest.toMessage() })]
}

/** Where the response of a result is kept; undefined if nobody keeps it. */
export const keptResponseOf = (
  result: ActionResult | null | undefined,
  digestFunction: DigestFunction,
): Digest | undefined => {
  const packed = result?.executionMetadata?.auxiliaryMetadata.find((any) => holds(any, keptCodec))
  return packed && Digest.parse(unpack(keptCodec, packed).digest, digestFunction, 'the digest of a kept response')
}
