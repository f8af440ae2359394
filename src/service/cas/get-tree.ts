import type { Writable } from 'node:stream'
import type { RpcCall } from '../../base/rpc.js'
import { StatusError } from '../../base/status-error.js'
import { codec, EncodedMessage } from '../../proto/codec.js'
import type { GetTreeRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { withSubmessages } from '../../proto/submessages.js'
import type { Digest } from '../../reapi/digest.js'
import { openRequest, requestDigest } from '../request.js'
import { sendSoon } from '../send.js'
import type { CasOptions } from './options.js'
import { formatPageToken, parsePageToken, unknownPageToken } from './page-token.js'

const responseCodec = codec('build.bazel.remote.execution.v2.GetTreeResponse')

/** `directories` of GetTreeResponse. */
const DIRECTORIES = 1

/** Where the client names no size: what a call holds while it waits for its client. */
const PAGE_BYTES = 1024 * 1024

/** How long a client may take over a page. */
const PATIENCE_MS = 60_000

/**
 * Streams the whole tree, each directory once, in pages of at most `page_size` directories and one response message.
 * Directories that are absent are left out with what is below them; only an absent root is an error.
 */
export const getTree =
  ({ instances, maxResponseBytes, trees, clock }: CasOptions) =>
  async (request: GetTreeRequest, rpc: RpcCall, responses: Writable): Promise<void> => {
    const { instance, call, functions } = openRequest(instances, request, rpc)
    const root = requestDigest(request.rootDigest, functions, 'root_digest')
    const { pageSize, pageToken } = request
    if (pageSize < 0)
      throw new StatusError('INVALID_ARGUMENT', `page_size ${pageSize} is not valid, expected 0 or more`)

    let after = parsePageToken(pageToken, root)
    const page = new Page(root, {
      maxDirectories: pageSize === 0 ? Number.POSITIVE_INFINITY : pageSize,
      maxBytes: Math.min(PAGE_BYTES, maxResponseBytes) - PAGE_OVERHEAD_BYTES,
    })
    const reader = { clock, patienceMs: PATIENCE_MS }
    const turn = trees.turn(call)
    const walk = trees.walk(instance.cas, root, call, {
      maxDirectoryBytes: maxResponseBytes - PAGE_OVERHEAD_BYTES,
      onMissing: () => {},
      turn,
    })
    for await (const { digest, bytes } of walk) {
      if (after !== undefined) {
        if (digest.key === after) after = undefined
        continue
      }
      if (!page.hasRoomFor(digest)) await turn.pausedFor(() => sendSoon(responses, page.take(), reader))
      page.add(digest, bytes)
    }
    if (after !== undefined) throw unknownPageToken(pageToken)
    await sendSoon(responses, page.takeLast(), reader)
  }

/** The directories of a response, as they are in the CAS: decoded they would take many times as much. */
class Page {
  readonly #root: Digest
  readonly #maxDirectories: number
  readonly #maxBytes: number
  #directories: Buffer[] = []
  #sizeBytes = 0
  #last: Digest

  constructor(root: Digest, limits: { readonly maxDirectories: number; readonly maxBytes: number }) {
    this.#root = root
    this.#last = root
    this.#maxDirectories = limits.maxDirectories
    this.#maxBytes = limits.maxBytes
  }

  /** A directory above the size of a page is one by itself. */
  hasRoomFor(digest: Digest): boolean {
    if (this.#directories.length === 0) return true
    const sizeBytes = this.#sizeBytes + digest.sizeBytes + DIRECTORY_OVERHEAD_BYTES
    return this.#directories.length < this.#maxDirectories && sizeBytes <= this.#maxBytes
  }

  add(digest: Digest, directory: Buffer): void {
    this.#directories.push(directory)
    this.#sizeBytes += digest.sizeBytes + DIRECTORY_OVERHEAD_BYTES
    this.#last = digest
  }

  /** A page that others follow: only those have a token. */
  take(): EncodedMessage {
    return this.#take(formatPageToken(this.#root, this.#last))
  }

  takeLast(): EncodedMessage {
    return this.#take('')
  }

  #take(nextPageToken: string): EncodedMessage {
    const directories = this.#directories
    this.#directories = []
    this.#sizeBytes = 0
    return new EncodedMessage(withSubmessages(DIRECTORIES, directories, responseCodec.encode({ nextPageToken })))
  }
}

// Tag and length of a directory; the token with both digests, and what else is not directories.
const DIRECTORY_OVERHEAD_BYTES = 6
const PAGE_OVERHEAD_BYTES = 1024
