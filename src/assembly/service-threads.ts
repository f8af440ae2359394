import { extname } from 'node:path'
import type { Ledger } from '../ledger/ledger.js'
import type { Log } from '../log/log.js'
import type { LoggedLine } from '../log/sendable.js'
import { ServiceThreads } from '../server/carry/service-threads.js'

/** What the program of a service thread starts with. */
export interface ServiceThreadData {
  readonly ledgerBuffer: SharedArrayBuffer
}

/** How many service threads a process has beside its main one, from `global.threads`. */
export const serviceThreadsOf = (threads: number): number => (threads === 1 ? 0 : threads)

/** Starts the service threads of a process; undefined if it has one thread for everything. */
export const startServiceThreads = async (
  count: number,
  ledger: Ledger,
  log: Log,
): Promise<ServiceThreads | undefined> => {
  const { buffer: ledgerBuffer } = ledger
  if (ledgerBuffer === undefined) return undefined
  const data: ServiceThreadData = { ledgerBuffer }
  return ServiceThreads.start({
    count,
    program: new URL(`./service-thread${extname(import.meta.url)}`, import.meta.url),
    data,
    onMessage: (message) => {
      const { level, message: text, fields } = message as LoggedLine
      log[level](text, fields)
    },
  })
}
