import { isStatus } from '../base/status-error.js'
import { codec, type Output } from './codec.js'

const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

/** The header in which REAPI clients describe themselves and the action. */
export const REQUEST_METADATA = 'build.bazel.remote.execution.v2.requestmetadata-bin'

export type RequestMetadata = Output<'build.bazel.remote.execution.v2.RequestMetadata'>

/**
 * The RequestMetadata of a call; undefined if absent. It is only informative, so invalid metadata does not
 * fail the call.
 */
export const requestMetadata = (
  metadata: ReadonlyMap<string, string | Buffer> | undefined,
): RequestMetadata | 'undecodable' | undefined => {
  const header = metadata?.get(REQUEST_METADATA)
  if (!Buffer.isBuffer(header)) return undefined
  try {
    return requestMetadataCodec.decode(header)
  } catch (error) {
    if (isStatus(error, 'INVALID_ARGUMENT')) return 'undecodable'
    throw error
  }
}
