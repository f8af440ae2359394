import { isStatus } from '../base/status-error.js'
import { codec, type Output } from './codec.js'

const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

/** The header in which REAPI clients say who asks and for what. */
export const REQUEST_METADATA = 'build.bazel.remote.execution.v2.requestmetadata-bin'

export type RequestMetadata = Output<'build.bazel.remote.execution.v2.RequestMetadata'>

/** What a call says of who asks; a courtesy of clients, so what cannot be decoded fails no call. Undefined without it. */
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
