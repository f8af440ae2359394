import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { ToServingThread } from '../../../src/assembly/threads/thread-calls.js'
import { ToOwner } from '../../../src/assembly/threads/to-owner.js'
import { type Clock, systemClock } from '../../../src/base/clock.js'
import { silentLog } from '../../../src/log/log.js'
import type { FileShareData } from '../../../src/store/kinds/filesystem/thread-share.js'
import { ThreadFileStore } from '../../../src/store/kinds/filesystem/thread-store.js'
import { answerFor } from './asked.js'

// A service thread without connections: it uses file stores of the owner as one does, for whoever asks through a port.

export interface OpenMessage {
  readonly kind: 'open'
  readonly path: string
  readonly data: FileShareData
  readonly port: MessagePort
}
export interface CloseMessage {
  readonly kind: 'close'
  readonly path: string
}

const { nowMs } = workerData as { readonly nowMs: SharedArrayBuffer }
const shownMs = new Float64Array(nowMs)
/** That of the test, if it moves one. */
const clock: Clock = { ...systemClock, now: () => shownMs[0] || Date.now() }
const stores = new Map<string, ThreadFileStore>()
const owner = new ToOwner(
  (message, transferred = []) => parentPort?.postMessage(message, transferred),
  (path) => stores.get(path)?.reader.takeUsed(),
)
parentPort?.on('message', (message: ToServingThread | OpenMessage | CloseMessage) => {
  if (message.kind === 'open') {
    const { path, data, port } = message
    const store = new ThreadFileStore(data, { owner: owner.ofStore(path), clock, log: silentLog })
    stores.set(path, store)
    answerFor(store, port)
  } else if (message.kind === 'close') {
    const store = stores.get(message.path)
    stores.delete(message.path)
    void store?.close().then(() => parentPort?.postMessage({ kind: 'closed', path: message.path }))
  } else if (message.kind === 'answers') owner.answered(message.answers)
  else if (message.kind === 'numbers') owner.numbered(message.numbers)
  else if (message.kind === 'retired') stores.get(message.path)?.retired(message.number)
})
parentPort?.postMessage({ kind: 'ready' })
