import type { Writable } from 'node:stream'
import type { RpcCall } from '../../base/rpc.js'
import { StatusError } from '../../base/status-error.js'
import type { Directory, GetTreeRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'
import { walkDirectories } from '../directory-walk.js'
import { inInstance, instanceOf } from '../instance.js'
import { requestDigest } from '../request-digests.js'
import { send } from '../send.js'
import type { CasOptions } from './options.js'
import { formatPageToken, parsePageToken, unknownPageToken } from './page-token.js'

/**
 * Streams the whole tree, each directory once, in pages of at most `page_size` directories and one response message.
 * Directories that are absent are left out with what is below them; only an absent root is an error.
 */
export const getTree =
  ({ instances, maxResponseBytes }: CasOptions) =>
  async (request: GetTreeRequest, call: RpcCall, responses: Writable): Promise<void> => {
    const { cas, digestFunctions } = instanceOf(instances, request.instanceName)
    const functions = { value: request.digestFunction, served: digestFunctions }
    const root = requestDigest(request.rootDigest, functions, 'root_digest')
    const { pageSize, pageToken } = request
    if (pageSize < 0)
      throw new StatusError('INVALID_ARGUMENT', `page_size ${pageSize} is not valid, expected 0 or more`)

    let after = parsePageToken(pageToken, root)
    const page = new Page(root, {
      maxDirectories: pageSize === 0 ? Number.POSITIVE_INFINITY : pageSize,
      maxResponseBytes,
    })
    const walk = walkDirectories(cas, root, inInstance(call, request.instanceName), {
      maxDirectoryBytes: maxResponseBytes - PAGE_OVERHEAD_BYTES,
      onMissing: () => {},
    })
    for await (const { digest, message } of walk) {
      if (after !== undefined) {
        if (digest.key === after) after = undefined
        continue
      }
      if (!page.hasRoomFor(digest)) await send(responses, page.take())
      page.add(digest, message)
    }
    if (after !== undefined) throw unknownPageToken(pageToken)
    await send(responses, page.takeLast())
  }

class Page {
  readonly #root: Digest
  readonly #maxDirectories: number
  readonly #maxBytes: number
  #directories: Directory[] = []
  #sizeBytes = 0
  #last: Digest

  constructor(root: Digest, limits: { readonly maxDirectories: number; readonly maxResponseBytes: number }) {
    this.#root = root
    this.#last = root
    this.#maxDirectories = limits.maxDirectories
    this.#maxBytes = limits.maxResponseBytes - PAGE_OVERHEAD_BYTES
  }

  hasRoomFor(digest: Digest): boolean {
    if (this.#directories.length === 0) return true
    const sizeBytes = this.#sizeBytes + digest.sizeBytes + DIRECTORY_OVERHEAD_BYTES
    return this.#directories.length < this.#maxDirectories && sizeBytes <= this.#maxBytes
  }

  add(digest: Digest, directory: Directory): void {
    this.#directories.push(directory)
    this.#sizeBytes += digest.sizeBytes + DIRECTORY_OVERHEAD_BYTES
    this.#last = digest
  }

  /** A page that others follow: only those have a token. */
  take(): { directories: Directory[]; nextPageToken: string } {
    return { ...this.takeLast(), nextPageToken: formatPageToken(this.#root, this.#last) }
  }

  takeLast(): { directories: Directory[] } {
    const directories = this.#directories
    this.#directories = []
    this.#sizeBytes = 0
    return { directories }
  }
}

// Tag and length of a directory; the token with both digests, and what else is not directories.
const DIRECTORY_OVERHEAD_BYTES = 6
const PAGE_OVERHEAD_BYTES = 1024
