import { readFileSync } from 'node:fs'
import { codec } from '../proto/codec.js'

const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

/** The header of every call that says who makes it. */
export const REQUEST_METADATA = 'build.bazel.remote.execution.v2.requestmetadata-bin'

/** Who makes the calls of a run. */
export interface Identity {
  readonly toolName: string
  /** One for all calls of a run. */
  readonly invocationId: string
}

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/** An encoded RequestMetadata. `actionId` is shared by the calls that belong together: those of one check. */
export const requestMetadata = ({ toolName, invocationId }: Identity, actionId: string): Buffer =>
  requestMetadataCodec.encode({
    toolDetails: { toolName, toolVersion: version },
    toolInvocationId: invocationId,
    actionId,
  })

/** The `actionId` of such a header as it came; undefined where there is none, or one that is nothing of the kind. */
export const actionIdOf = (header: unknown): string | undefined => {
  if (header === undefined) return undefined
  try {
    return requestMetadataCodec.decode(Buffer.from(String(header), 'base64')).actionId
  } catch {
    // A check that sends such a header sends others too.
    return undefined
  }
}
