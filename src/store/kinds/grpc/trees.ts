import { StatusError } from '../../../base/status-error.js'
import type { DirectoryBytes, FarTrees } from '../../../blobs/store.js'
import type { Reservation } from '../../../ledger/reservation.js'
import { codec, type Output } from '../../../proto/codec.js'
import { Digest } from '../../../reapi/digest.js'
import { type Call, callWith } from '../../../rpc/call.js'
import { Semaphore } from '../../../work/semaphore.js'
import { METHODS, type RemoteServer } from './remote-server.js'

const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')

type GetTreeResponse = Output<'build.bazel.remote.execution.v2.GetTreeResponse'>

/** Of one tree. One page is in memory, which the other server bounds and grpc-js holds to 64 MiB. */
const MAX_TREE_BYTES = 64 * 1024 * 1024

/** Trees read at the same time: a page of each is in memory. */
const PERMITS = 8

/** Reserved for the page of a tree. One that is larger takes more, and ends the reading if there is none. */
const PAGE_BYTES = 2 * 1024 * 1024

/** Trees of another server by GetTree. */
export class GrpcTrees implements FarTrees {
  readonly #server: RemoteServer
  readonly #turns = new Semaphore({ permits: PERMITS, maxWaiting: Number.POSITIVE_INFINITY })
  #isUnknown = false

  constructor(server: RemoteServer) {
    this.#server = server
  }

  async read(root: Digest, take: (directories: readonly DirectoryBytes[]) => Promise<void>, call: Call): Promise<void> {
    if (this.#isUnknown) throw new StatusError('UNIMPLEMENTED', 'the other server has no GetTree')
    const { held, signal } = call
    const end = await this.#turns.acquire('a turn to read a tree of the other server', signal)
    try {
      const page = await held?.ledger.kinds.inputs.whenRoom(held.holder, PAGE_BYTES, signal)
      try {
        await this.#read(root, inRoom(take, page), call)
      } finally {
        page?.release()
      }
    } finally {
      end()
    }
  }

  async #read(...[root, take, call]: Parameters<FarTrees['read']>): Promise<void> {
    const wanted = new Map([[root.key, root]])
    const read = { bytes: 0 }
    let pageToken = ''
    do {
      pageToken = await this.#server.requests
        .run(call, (signal) => this.#readPages({ root, pageToken, wanted, read, take }, callWith(call, { signal })))
        .catch((error: unknown) => {
          this.#isUnknown = error instanceof StatusError && error.code === UNIMPLEMENTED
          throw error
        })
    } while (pageToken !== '' && read.bytes < MAX_TREE_BYTES)
  }

  /** Returns the token of the page after the last one. */
  async #readPages({ root, pageToken, wanted, read, take }: Reading, call: Call): Promise<string> {
    const request = {
      instanceName: this.#server.instanceName,
      rootDigest: root.toMessage(),
      digestFunction: root.function.value,
      pageToken,
    }
    const stream = await this.#server.serverStream(METHODS.getTree, request, call)
    let next = ''
    try {
      for await (const response of stream as AsyncIterable<GetTreeResponse>) {
        const directories = askedFor(response.directories, root, wanted)
        for (const { bytes } of directories) read.bytes += bytes.length
        if (directories.length > 0) await take(directories)
        if (response.directories.length > 0) next = response.nextPageToken
        if (read.bytes >= MAX_TREE_BYTES) break
      }
    } finally {
      stream.destroy()
    }
    // A server that sends a token and nothing new would never end.
    return next === pageToken ? '' : next
  }
}

interface Reading {
  readonly root: Digest
  readonly pageToken: string
  /** Directories that the root, or one that was read, names. */
  readonly wanted: Map<string, Digest>
  /** How much was read of the tree. */
  readonly read: { bytes: number }
  readonly take: (directories: readonly DirectoryBytes[]) => Promise<void>
}

const UNIMPLEMENTED = new StatusError('UNIMPLEMENTED', '').code

/** The messages that are Directories of the tree, by their digests. A server that changed one in any way sent another blob. */
const askedFor = (
  messages: GetTreeResponse['directories'],
  root: Digest,
  wanted: Map<string, Digest>,
): DirectoryBytes[] => {
  const found: DirectoryBytes[] = []
  for (const message of messages) {
    const bytes = directoryCodec.encode(message)
    const digest = wanted.get(Digest.of(bytes, root.function).key)
    if (digest === undefined) continue
    found.push({ digest, bytes })
    for (const { digest: child } of message.directories) {
      const named = Digest.parse(child, root.function)
      if (!wanted.has(named.key)) wanted.set(named.key, named)
    }
  }
  return found
}

type Take = Parameters<FarTrees['read']>[1]

/** `take` with room in the ledger for each page. RESOURCE_EXHAUSTED if there is none. */
const inRoom =
  (take: Take, page: Reservation | undefined): Take =>
  async (directories) => {
    const moreBytes = directories.reduce((sum, { bytes }) => sum + bytes.length, 0) - PAGE_BYTES
    if (page !== undefined && moreBytes > 0 && !page.grow(moreBytes)) {
      const message = 'the memory limit for inputs is reached: the rest of the tree is read one Directory at a time'
      throw new StatusError('RESOURCE_EXHAUSTED', message)
    }
    await take(directories)
    page?.shrinkTo(PAGE_BYTES)
  }
