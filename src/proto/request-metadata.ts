import { isStatus } from '../base/status-error.js'
import { codec, type Output } from './codec.js'

const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

/** A header of RequestMetadata as it came: bytes, or base64. Invalid ones say nothing. */
export const requestFacts = (header: string | Buffer | undefined) => {
  const bytes = typeof header === 'string' ? Buffer.from(header.split(',', 1)[0] ?? '', 'base64') : header
  const known = bytes && requestMetadata(new Map([[REQUEST_METADATA, bytes]]))
  const { toolDetails, toolInvocationId, targetId, actionMnemonic, configurationId } =
    known === undefined || known === 'undecodable' ? NOTHING : known
  return {
    tool: toolDetails === null ? '' : `${toolDetails.toolName} ${toolDetails.toolVersion}`.trim(),
    invocation: toolInvocationId,
    target: targetId,
    mnemonic: actionMnemonic,
    configuration: configurationId,
  }
}

const NOTHING = { toolDetails: null, toolInvocationId: '', targetId: '', actionMnemonic: '', configurationId: '' }

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
