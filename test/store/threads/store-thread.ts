import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { ServingToOwner, ServingToThread } from '../../../src/assembly/threads/thread-calls.js'
import { ToOwner } from '../../../src/assembly/threads/to-owner.js'
import { type Clock, systemClock } from '../../../src/base/clock.js'
import { silentLog } from '../../../src/log/log.js'
import { ThreadChannel } from '../../../src/server/threads/channel.js'
import type { FileShareData } from '../../../src/store/kinds/filesystem/thread-share.js'
import { ThreadFileStore } from '../../../src/store/kinds/filesystem/thread-store.js'
import { answerFor } from './asked.js'

// A service thread without connections: it uses file stores of the owner as one does, for whoever asks through a port.

/** What the owner tells such a thread. */
export interface ToStoreThread extends Pick<ServingToThread, 'numbered' | 'retired'> {
  /** Answered at once. */
  isReady(): Promise<void>
  open(path: string, data: FileShareData, port: MessagePort): void
  /** Answered once the store is closed. */
  close(path: string): Promise<void>
}

const { nowMs } = workerData as { readonly nowMs: SharedArrayBuffer }
const shownMs = new Float64Array(nowMs)
/** That of the test, if it moves one. */
const clock: Clock = { ...systemClock, now: () => shownMs[0] || Date.now() }
const stores = new Map<string, ThreadFileStore>()
const channel = new ThreadChannel<ServingToOwner>(parentPort as MessagePort)
const owner = new ToOwner(channel, (path) => stores.get(path)?.reader.takeUsed())
channel.hear<ToStoreThread>({
  isReady: async () => {},
  open: (path, data, port) => {
    const store = new ThreadFileStore(data, { owner: owner.ofStore(path), clock, log: silentLog })
    stores.set(path, store)
    answerFor(store, port)
  },
  close: async (path) => {
    const store = stores.get(path)
    stores.delete(path)
    await store?.close()
  },
  numbered: (invocation, number) => owner.numbered(invocation, number),
  retired: (path, number) => stores.get(path)?.retired(number),
})
