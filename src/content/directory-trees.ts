import { shownName } from '../base/shown-name.js'
import { isStatus, StatusError } from '../base/status-error.js'
import type { Store } from '../blobs/store.js'
import type { Kind } from '../ledger/kind.js'
import type { Reservation } from '../ledger/reservation.js'
import { codec } from '../proto/codec.js'
import type { Directory } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../reapi/digest.js'
import { type Call, cancellation } from '../rpc/call.js'
import { LANES } from '../work/bounded-map.js'
import { Semaphore } from '../work/semaphore.js'
import { TimeSlices } from '../work/time-slices.js'
import { readBlob } from './read-blob.js'
import { walk } from './walk.js'

const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')

export interface WalkedDirectory {
  readonly digest: Digest
  /** The encoded message, as stored in the CAS. */
  readonly bytes: Buffer
  readonly message: Directory
}

export interface WalkOptions {
  /** A larger Directory ends the walk with RESOURCE_EXHAUSTED. */
  readonly maxDirectoryBytes: number
  /** Called for a directory that is absent; the walk goes on unless it throws. */
  readonly onMissing: (digest: Digest) => void
  /** The turn of this walk, for callers that pause it. */
  readonly turn?: TreeTurn
}

export interface TreeLimits {
  /** Trees that are read at the same time. */
  readonly permits: number
  /** Calls that may wait for a turn; more are rejected with RESOURCE_EXHAUSTED. */
  readonly maxWaiting: number
  /** Distinct directories in one tree; a larger tree is rejected with RESOURCE_EXHAUSTED. */
  readonly maxDirectories: number
}

/** Measured: a walk holds 245 bytes per directory it has seen, so eight trees of maximum size take 1 GB. */
const LIMITS: TreeLimits = { permits: 8, maxWaiting: 1_000, maxDirectories: 500_000 }

const SLICE_MS = 5

/** The turn of one call to read directory trees. */
export class TreeTurn {
  readonly #turns: Semaphore
  readonly #call: Call
  #end: (() => void) | undefined

  constructor(turns: Semaphore, call: Call) {
    this.#turns = turns
    this.#call = call
  }

  async take(): Promise<void> {
    const { signal, held } = this.#call
    this.#end = await this.#turns.acquire('a turn to read a directory tree', signal, held?.holder)
  }

  end(): void {
    this.#end?.()
    this.#end = undefined
  }

  /** Gives up the turn while `work` waits for a client, and takes a new one afterwards. */
  async pausedFor(work: () => Promise<void>): Promise<void> {
    this.end()
    await work()
    await this.take()
  }
}

/** Reads directory trees in turns, so that many requests exhaust neither memory nor the event loop. */
export class DirectoryTrees {
  readonly #maxDirectories: number
  readonly #turns: Semaphore
  readonly #slices = new TimeSlices(SLICE_MS)

  constructor(limits: Partial<TreeLimits> = {}) {
    const { maxDirectories, ...turns } = { ...LIMITS, ...limits }
    this.#maxDirectories = maxDirectories
    this.#turns = new Semaphore(turns)
  }

  /** A turn that is not taken yet. */
  turn(call: Call): TreeTurn {
    return new TreeTurn(this.#turns, call)
  }

  /**
   * Yields from `parts` once the call has its turn, because `parts` holds much of a tree. `parts` must not take another
   * turn.
   */
  async *inTurn<T>(call: Call, parts: () => AsyncIterable<T>, turn = this.turn(call)): AsyncGenerator<T> {
    await turn.take()
    try {
      yield* parts()
    } finally {
      turn.end()
    }
  }

  /** Await this between parts of work on a tree. It yields to the event loop when needed, and ends with the call. */
  async step(call: Call): Promise<void> {
    await this.#slices.step()
    if (call.signal.aborted) throw cancellation(call.signal)
  }

  /**
   * Yields every directory from `root` down, each once, parents first, always in the same order. Only digests wait in
   * memory, so depth is unlimited. Rejects with NOT_FOUND when the root is absent, INVALID_ARGUMENT when a blob is not
   * a Directory.
   */
  walk(cas: Store, root: Digest, call: Call, options: WalkOptions): AsyncGenerator<WalkedDirectory> {
    return this.inTurn(call, () => this.#walk(cas, root, call, options), options.turn)
  }

  async *#walk(
    cas: Store,
    root: Digest,
    call: Call,
    { maxDirectoryBytes, onMissing }: WalkOptions,
  ): AsyncGenerator<WalkedDirectory> {
    const memory = new WalkMemory(call)
    const directories = walk<ReadDirectory>(root, {
      fetch: (digest) => read(cas, digest, call, { maxDirectoryBytes, root }),
      childrenOf: (directory, digest) => childrenOf(directory.decode(), digest),
      lanes: LANES,
      maxBytes: maxDirectoryBytes,
    })
    try {
      for await (const { digest, directory, seenCount } of directories) {
        await this.step(call)
        if (seenCount > this.#maxDirectories) throw tooLarge(root, this.#maxDirectories)
        memory.hold(seenCount)
        if (directory === undefined) onMissing(digest)
        else yield { digest, bytes: directory.bytes, message: directory.decode() }
      }
    } finally {
      memory.release()
    }
  }
}

/** Memory that a walk reserves at its start: some MiB of directories that were read, and the digests seen so far. */
const WALK_BYTES = 4 * 1024 * 1024
const SEEN_BYTES = 256
const SEEN_AT_A_TIME = 1024

/** The reservation of one walk in the ledger. */
class WalkMemory {
  readonly #reservation: Reservation | undefined
  readonly #exhausted: () => StatusError
  #seenCount = 0

  constructor({ held }: Call) {
    const trees = held?.ledger.kinds.trees
    this.#exhausted = () => (trees as Kind).exhausted()
    this.#reservation = held && trees?.reserveOrThrow(held.holder, WALK_BYTES)
  }

  /** Throws RESOURCE_EXHAUSTED when the trees of this process hold too much memory. */
  hold(seenCount: number): void {
    if (this.#reservation === undefined || seenCount <= this.#seenCount) return
    const moreCount = Math.ceil((seenCount - this.#seenCount) / SEEN_AT_A_TIME) * SEEN_AT_A_TIME
    if (!this.#reservation.grow(moreCount * SEEN_BYTES)) throw this.#exhausted()
    this.#seenCount += moreCount
  }

  release(): void {
    this.#reservation?.release()
  }
}

/** A directory that is decoded when it is yielded, not while it waits. */
class ReadDirectory {
  readonly bytes: Buffer
  readonly #digest: Digest
  #message: Directory | undefined

  constructor(bytes: Buffer, digest: Digest) {
    this.bytes = bytes
    this.#digest = digest
  }

  decode(): Directory {
    try {
      this.#message ??= directoryCodec.decode(this.bytes)
      return this.#message
    } catch (thrown) {
      throw StatusError.from(thrown).withPrefix(`directory ${this.#digest.key}`)
    }
  }
}

const tooLarge = (root: Digest, maxDirectories: number): StatusError =>
  new StatusError(
    'RESOURCE_EXHAUSTED',
    `the tree below ${root.key} has more than ${maxDirectories} different directories, expected at most that`,
  )

const read = async (
  cas: Store,
  digest: Digest,
  call: Call,
  { maxDirectoryBytes, root }: { readonly maxDirectoryBytes: number; readonly root: Digest },
): Promise<ReadDirectory | undefined> => {
  if (digest.sizeBytes > maxDirectoryBytes) {
    const expected = `expected at most ${maxDirectoryBytes} bytes`
    throw new StatusError('RESOURCE_EXHAUSTED', `directory ${digest.key} is too large, ${expected}`)
  }
  try {
    return new ReadDirectory(await readBlob(cas, digest, call), digest)
  } catch (thrown) {
    if (digest !== root && isStatus(thrown, 'NOT_FOUND')) return undefined
    throw StatusError.from(thrown).withPrefix(`directory ${digest.key}`)
  }
}

const childrenOf = ({ directories }: Directory, parent: Digest): Digest[] =>
  directories.map(({ name, digest }) =>
    Digest.parse(digest, parent.function, () => `directory ${parent.key}: the digest of ${shownName(name)}`),
  )
