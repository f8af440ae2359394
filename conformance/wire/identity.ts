import { readFileSync } from 'node:fs'
import { codec } from '../proto/codec.js'

const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

/** The header that identifies the caller. */
export const REQUEST_METADATA = 'build.bazel.remote.execution.v2.requestmetadata-bin'

/** The identity of a run's calls. */
export interface Identity {
  readonly toolName: string
  /** The same for all calls of a run. */
  readonly invocationId: string
}

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/** An encoded RequestMetadata. `actionId` groups the calls of one check. */
export const requestMetadata = ({ toolName, invocationId }: Identity, actionId: string): Buffer =>
  requestMetadataCodec.encode({
    toolDetails: { toolName, toolVersion: version },
    toolInvocationId: invocationId,
    actionId,
  })

/** The `actionId` of such a header; undefined if the header is absent or invalid. */
export const actionIdOf = (header: unknown): string | undefined => {
  if (header === undefined) return undefined
  try {
    return requestMetadataCodec.decode(Buffer.from(String(header), 'base64')).actionId
  } catch {
    // A check that sends a second header of this name comes here too.
    return undefined
  }
}
