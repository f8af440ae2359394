import type { Mutation } from '../../../conformance/mutate/mutation.js'
import { REQUEST_METADATA } from '../../../conformance/wire/identity.js'
import { codec, type Output } from '../../../src/proto/codec.js'

const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

export type RequestMetadata = Output<'build.bazel.remote.execution.v2.RequestMetadata'>

export interface ObservedCall {
  readonly method: string
  /** 'none' without the header, 'garbage' when it is no message. */
  readonly metadata: RequestMetadata | 'none' | 'garbage'
}

/** What one run said, as a proxy that changes nothing has seen it. */
export class Observer {
  readonly calls: ObservedCall[] = []
  /** Hashes of blobs written and of actions given a result by the suite's own calls, with the check and the method. */
  readonly written = new Map<string, string>()

  readonly mutation: Mutation = {
    name: 'observed',
    breaks: 'Nothing.',
    caughtBy: [],
    tamper: () => ({
      method: 'every method',
      answer: (request, { path, headers }) => {
        const method = path.replace(/^.*[./]/, '')
        const metadata = metadataIn(headers[REQUEST_METADATA])
        this.calls.push({ method, metadata })
        if (typeof metadata === 'string' || !isOwn(metadata)) return undefined
        for (const hash of hashesIn(method, request)) this.written.set(hash, `${metadata.actionId} by ${method}`)
        return undefined
      },
    }),
  }
}

/** Said by the suite itself, not by a replayed client or a check of the header. */
export const isOwn = ({ toolDetails }: RequestMetadata): boolean => toolDetails?.toolName === 'remexec-conformance'

const metadataIn = (header: string | readonly string[] | undefined): ObservedCall['metadata'] => {
  if (header === undefined) return 'none'
  try {
    return requestMetadataCodec.decode(Buffer.from(String(header), 'base64'))
  } catch {
    return 'garbage'
  }
}

interface Written {
  readonly resourceName?: string
  readonly requests?: readonly { readonly digest?: { readonly hash: string } | null }[]
  readonly actionDigest?: { readonly hash: string } | null
}

const hashesIn = (method: string, request: Written | undefined): string[] => {
  if (method === 'Write') return /uploads\/.*?([0-9a-f]{40,})\/\d+/.exec(request?.resourceName ?? '')?.slice(1) ?? []
  if (method === 'BatchUpdateBlobs') return (request?.requests ?? []).flatMap(({ digest }) => digest?.hash || [])
  return method === 'UpdateActionResult' ? [request?.actionDigest?.hash ?? []].flat() : []
}
