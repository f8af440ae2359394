import type { LogFields } from '../../base/log.js'
import type { Metadata } from '../../base/rpc.js'
import { isStatus } from '../../base/status-error.js'
import { codec } from '../../proto/codec.js'

const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')
const REQUEST_METADATA = 'build.bazel.remote.execution.v2.requestmetadata-bin'

/**
 * Who asks and for what, by the REAPI RequestMetadata header, for the line of the call in the log. The header is a
 * courtesy of clients: absent or undecodable it never fails a call.
 */
export const requestFields = (metadata: Metadata): LogFields => {
  const header = metadata.get(REQUEST_METADATA)
  if (!Buffer.isBuffer(header)) return {}
  try {
    const { toolDetails, toolInvocationId, actionId, targetId } = requestMetadataCodec.decode(header)
    const named = { tool: toolDetails?.toolName, invocation: toolInvocationId, action: actionId, target: targetId }
    return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined && value !== ''))
  } catch (error) {
    if (isStatus(error, 'INVALID_ARGUMENT')) return { requestMetadata: 'undecodable' }
    throw error
  }
}
