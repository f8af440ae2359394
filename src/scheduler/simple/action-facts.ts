import { codec } from '../../proto/codec.js'
import type { ExecutionRequest } from '../request.js'
import type { ActionFacts } from '../scheduler.js'

const metadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

/** What an action is, and the build it belongs to. Absent fields are those that the client did not send. */
export const actionFacts = (request: ExecutionRequest): ActionFacts => {
  const { instanceName: instance, actionDigest, target, mnemonic, invocation, identity } = request
  const tool = toolOf(request)
  return {
    ...{ instance, action: actionDigest.key },
    ...(target && { target }),
    ...(mnemonic && { mnemonic }),
    ...(invocation && { invocation }),
    ...(tool && { tool }),
    ...(identity && { identity }),
  }
}

/** `bazel 7.7.1`. The scheduler received the bytes from a call that decoded them, so they are valid. */
const toolOf = ({ metadata }: ExecutionRequest): string => {
  if (metadata === undefined) return ''
  const { toolName = '', toolVersion = '' } = metadataCodec.decode(metadata).toolDetails ?? {}
  return [toolName, toolVersion].filter((part) => part !== '').join(' ')
}
