import { MessageChannel, type Worker } from 'node:worker_threads'
import { Hearing } from '../../../src/assembly/threads/hearing.js'
import type { ServingToOwner } from '../../../src/assembly/threads/thread-calls.js'
import { type Clock, ManualClock, systemClock } from '../../../src/base/clock.js'
import { ForwardingStore } from '../../../src/blobs/forwarding.js'
import type { BlobEntry, Outcomes, Store } from '../../../src/blobs/store.js'
import { Ledger } from '../../../src/ledger/ledger.js'
import { silentLog } from '../../../src/log/log.js'
import type { Digest } from '../../../src/reapi/digest.js'
import type { DigestBatch } from '../../../src/reapi/digest-batch.js'
import type { Call } from '../../../src/rpc/call.js'
import { ThreadChannel } from '../../../src/server/threads/channel.js'
import type { SharedStore } from '../../../src/store/contract/kind.js'
import type { FileShareData } from '../../../src/store/kinds/filesystem/thread-share.js'
import type { Blob } from '../../../src/stream/blob/blob.js'
import type { Range } from '../../../src/stream/path.js'
import { startThread } from '../../built.js'
import { type FilesystemParts, type OpenFilesystem, openFilesystem } from '../kinds/filesystem/open.js'
import { AskedStore } from './asked.js'
import type { ToStoreThread } from './store-thread.js'

export interface UsedFromThreads extends OpenFilesystem {
  /** The store as each thread has it. */
  readonly threads: readonly Store[]
}

/** Threads that use file stores of this one, their owner, with what service threads tell and ask it. */
export class Crew {
  readonly #workers: readonly Worker[]
  readonly #channels: readonly ThreadChannel<ToStoreThread>[]
  readonly #shownMs: Float64Array
  readonly #stores = new Map<string, SharedStore>()
  #openedCount = 0

  private constructor(count: number) {
    const nowMs = new SharedArrayBuffer(8)
    this.#shownMs = new Float64Array(nowMs)
    const hearing = new Hearing(this.#stores, { ledger: new Ledger({}), clock: systemClock, log: silentLog })
    this.#workers = Array.from({ length: count }, () =>
      startThread(new URL('store-thread.ts', import.meta.url), { workerData: { nowMs } }),
    )
    this.#channels = this.#workers.map((worker) => {
      const channel = new ThreadChannel<ToStoreThread>(worker)
      channel.hear<ServingToOwner>(hearing.of(channel))
      return channel
    })
  }

  static async start(count: number): Promise<Crew> {
    const crew = new Crew(count)
    await Promise.all(crew.#channels.map((channel) => channel.ask('isReady')))
    return crew
  }

  /** Moves the clock of the threads with one of the test. */
  follow(clock: Clock): void {
    this.#shownMs[0] = clock === systemClock ? 0 : clock.now()
  }

  /** The store in a folder. Each operation on `store` is of the next thread. */
  async open(folder: string, parts: FilesystemParts = {}): Promise<UsedFromThreads> {
    const shares: SharedStore[] = []
    const sharing = { threadCount: this.#workers.length, register: (store: SharedStore) => void shares.push(store) }
    const owner = await openFilesystem(folder, { ...parts, threads: sharing })
    const [share] = shares
    if (share === undefined) throw new Error('a file store registers what threads use')
    if (parts.clock instanceof ManualClock) this.follow(parts.clock)
    const path = `store ${++this.#openedCount}`
    this.#stores.set(path, share)
    share.onRetired = (number) => {
      for (const channel of this.#channels) channel.send('retired', path, number)
    }
    const threads = this.#channels.map((channel) => {
      const { data, ports } = share.share()
      const { port1, port2 } = new MessageChannel()
      channel.give(...ports, port2)
      channel.send('open', path, data as FileShareData, port2)
      return { store: new AskedStore(owner.store, port1), port: port1 }
    })
    let isClosed = false
    const close = async (): Promise<void> => {
      if (isClosed) return
      isClosed = true
      await Promise.all(this.#channels.map((channel) => channel.ask('close', path)))
      for (const { port } of threads) port.close()
      await owner.close()
      this.#stores.delete(path)
    }
    const stores = threads.map(({ store }) => store)
    return { ...owner, store: new InTurn(owner.store, stores), threads: stores, close }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }
}

/** The next thread for each operation. What is not of threads is of the owner. */
class InTurn extends ForwardingStore {
  readonly #threads: readonly Store[]
  #turn = 0

  constructor(owner: Store, threads: readonly Store[]) {
    super(owner)
    this.#threads = threads
  }

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return this.#next().findMissing(digests, call)
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.#next().get(digest, range, call)
  }

  override put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    return this.#next().put(digest, blob, call)
  }

  override async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const each = this.#threads.map(() => [] as { readonly at: number; readonly entry: BlobEntry }[])
    for (const [at, entry] of entries.entries()) each[at % each.length]?.push({ at, entry })
    const outcomes: (Outcomes[number] | undefined)[] = entries.map(() => undefined)
    await Promise.all(
      each.map(async (some, thread) => {
        const found = await this.#threads[thread]?.putAll(
          some.map(({ entry }) => entry),
          call,
        )
        for (const [index, { at }] of some.entries()) outcomes[at] = found?.[index]
      }),
    )
    return outcomes
  }

  #next(): Store {
    return this.#threads[this.#turn++ % this.#threads.length] as Store
  }
}
