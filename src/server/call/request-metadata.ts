import type { LogFields } from '../../log/log.js'
import { requestMetadata } from '../../proto/request-metadata.js'
import type { Metadata } from '../../rpc/rpc.js'

/** The client, invocation, action and target from the REAPI RequestMetadata header, for the call's log line. */
export const requestFields = (metadata: Metadata): LogFields => {
  const known = requestMetadata(metadata)
  if (known === undefined) return {}
  if (known === 'undecodable') return { requestMetadata: known }
  const { toolDetails, toolInvocationId, actionId, targetId } = known
  const named = { tool: toolDetails?.toolName, invocation: toolInvocationId, action: actionId, target: targetId }
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined && value !== ''))
}
