import { systemClock } from '../../../../src/base/clock.js'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import type { BlobEntry, Outcomes, Store } from '../../../../src/blobs/store.js'
import { silentLog } from '../../../../src/log/log.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import type { DigestBatch } from '../../../../src/reapi/digest-batch.js'
import type { Call } from '../../../../src/rpc/call.js'
import type { SharedStore } from '../../../../src/store/contract/kind.js'
import { draftsOf, type SmallBlob } from '../../../../src/store/kinds/filesystem/records/drafts.js'
import type { FileShareData } from '../../../../src/store/kinds/filesystem/thread-share.js'
import { ThreadFileStore } from '../../../../src/store/kinds/filesystem/thread-store.js'
import type { Blob } from '../../../../src/stream/blob/blob.js'
import type { Range } from '../../../../src/stream/path.js'
import { type FilesystemParts, type OpenFilesystem, openFilesystem } from './open.js'

export interface UsedByThread extends OpenFilesystem {
  /** What the thread has. */
  readonly reading: ThreadFileStore
  /** Set to keep from the owner what the thread has used. */
  tellsUses: boolean
  /** Set to keep from the thread which files of records are deleted. */
  tellsRetired: boolean
  /** The blobs that the thread said were wrong. */
  readonly blamed: readonly Digest[]
}

/** A store whose owner commits, and that another party reads and writes as a service thread does, without a second thread. */
export const openUsedByThread = async (folder: string, parts: FilesystemParts = {}): Promise<UsedByThread> => {
  const shares: SharedStore[] = []
  const threads = { threadCount: 1, register: (store: SharedStore) => void shares.push(store) }
  const owner = await openFilesystem(folder, { ...parts, threads })
  const [share] = shares
  if (share === undefined) throw new Error('a file store registers what threads read')
  const clock = parts.clock ?? systemClock
  /** Small blobs of this turn. The claims of the first are those of all. */
  const small: SmallBlob[] = []
  let committing: ReturnType<SharedStore['commitSmall']> | undefined
  const reading: ThreadFileStore = new ThreadFileStore(share.share().data as FileShareData, {
    owner: {
      usesWait: () => {
        if (opened.tellsUses) setImmediate(() => share.used(reading.reader.takeUsed()))
      },
      numberOf: (id) => parts.invocations?.touch(id)?.number,
      claim: (slot, claimant) => share.hold(Int32Array.of(slot), claimant),
      commit: async (digest, written, call) => {
        if (!Buffer.isBuffer(written)) return share.commit(digest, written, call)
        const at = small.push({ digest, bytes: written }) - 1
        committing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
          committing = undefined
          return share.commitSmall(draftsOf(small.splice(0)), call)
        })
        const refused = (await committing).find((one) => one.at === at)
        if (refused !== undefined) throw refused.error
      },
      damaged: (digest, slot, location, why) => {
        opened.blamed.push(digest)
        return share.damaged(digest, slot, location, why)
      },
    },
    clock,
    log: silentLog,
  })
  share.onRetired = (number) => {
    if (opened.tellsRetired) reading.retired(number)
  }
  const close = async (): Promise<void> => {
    await reading.close()
    await owner.close()
  }
  const store = new UsedElsewhere(owner.store, reading)
  const blamed: Digest[] = []
  const opened = { ...owner, store, reading, tellsUses: true, tellsRetired: true, blamed, close }
  return opened
}

/** Blobs are written and read by a thread; the owner does everything else. */
class UsedElsewhere extends ForwardingStore {
  readonly #reading: Store

  constructor(owner: Store, reading: Store) {
    super(owner)
    this.#reading = reading
  }

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return this.#reading.findMissing(digests, call)
  }

  override put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    return this.#reading.put(digest, blob, call)
  }

  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    return this.#reading.putAll(entries, call)
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.#reading.get(digest, range, call)
  }
}
