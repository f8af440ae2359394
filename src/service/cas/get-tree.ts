import type { Writable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { codec, EncodedMessage } from '../../proto/codec.js'
import type { GetTreeRequest } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { withSubmessages } from '../../proto/submessages.js'
import type { Digest } from '../../reapi/digest.js'
import type { RpcCall } from '../../rpc/rpc.js'
import { openRequest, requestDigest } from '../request.js'
import { sendSoon } from '../send.js'
import type { CasOptions } from './options.js'
import { formatPageToken, parsePageToken, unknownPageToken } from './page-token.js'

const responseCodec = codec('build.bazel.remote.execution.v2.GetTreeResponse')

/** Field number of `directories` in GetTreeResponse. */
const DIRECTORIES = 1

/** Maximum size of a page. A call holds one page while it waits for its client. */
const PAGE_BYTES = 1024 * 1024

/** How long a client may take to read a page. */
const PATIENCE_MS = 60_000

/**
 * Streams the whole tree, each distinct directory once, in pages of at most `page_size` directories. A page is one
 * response message. Absent directories are left out together with their descendants; only an absent root is an error.
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

/** The directories of a response, encoded as in the CAS, because decoded ones take many times the memory. */
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

  /** A directory larger than a page is sent alone in its own page. */
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

  /** Takes a page that is not the last. Only such pages have a token. */
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

// DIRECTORY_OVERHEAD_BYTES: tag and length of a directory. PAGE_OVERHEAD_BYTES: the token with two digests, and the
// rest.
const DIRECTORY_OVERHEAD_BYTES = 6
const PAGE_OVERHEAD_BYTES = 1024
