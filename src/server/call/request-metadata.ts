import type { LogFields } from '../../log/log.js'
import { requestMetadata } from '../../proto/request-metadata.js'
import type { Metadata } from '../../rpc/rpc.js'

/** Who asks and for what, by the REAPI RequestMetadata header, for the line of the call in the log. */
export const requestFields = (metadata: Metadata): LogFields => {
  const known = requestMetadata(metadata)
  if (known === undefined) return {}
  if (known === 'undecodable') return { requestMetadata: known }
  const { toolDetails, toolInvocationId, actionId, targetId } = known
  const named = { tool: toolDetails?.toolName, invocation: toolInvocationId, action: actionId, target: targetId }
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined && value !== ''))
}
