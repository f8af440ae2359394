import { Threaded as Started } from '../../src/assembly/threads/service-threads.js'
import { systemClock } from '../../src/base/clock.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { type Log, silentLog } from '../../src/log/log.js'
import type { ServiceThreads } from '../../src/server/threads/service-threads.js'

export interface Threaded {
  /** Options of `listen`. */
  readonly options: { readonly threads: ServiceThreads; readonly ledger: Ledger }
  stop(): Promise<void>
}

/** Service threads, and the ledger that they share with this thread. */
export const startThreads = async (count: number, log: Log = silentLog): Promise<Threaded> => {
  const ledger = new Ledger({}, {})
  const started = await Started.start(count, { ledger, clock: systemClock, log })
  if (started === undefined) throw new Error('no thread was asked for')
  const { threads } = started
  return { options: { threads, ledger }, stop: () => threads.stop() }
}
