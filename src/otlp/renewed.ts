import type { Clock } from '../base/clock.js'
import { inWords } from '../base/errno.js'
import { ReloadedFiles } from '../files/reloaded-files.js'
import type { Log } from '../log/log.js'
import type { TlsVariables } from './settings.js'
import { type Pem, readPem, TRUSTS_NOBODY } from './tls.js'

interface Exporter {
  export(...args: never): void
  shutdown(): Promise<void>
}

export interface RenewedParts {
  /** The exported data, e.g. `metrics`. */
  readonly what: string
  readonly files: TlsVariables
  readonly clock: Clock
  readonly log: Log
}

/**
 * The exporter that `make` creates; when a TLS file changes, a new one replaces it. The previous one still
 * sends what it was given. Invalid files are logged and do not prevent the start. Until they are valid, no
 * collector is trusted.
 */
export const renewed = async <E extends Exporter>(
  make: (pem: Pem) => Promise<E>,
  { what, files, clock, log }: RenewedParts,
): Promise<{ readonly exporter: E; readonly stop: () => void }> => {
  if (files.size === 0) return { exporter: await make({}), stop: () => {} }
  const warn = (message: string): void => log.warn(message, {})
  let isFirst = true
  const read = async (): Promise<E> => {
    const wasFirst = isFirst
    isFirst = false
    const pem = await readPem(files, warn).catch((error: unknown) => {
      if (!wasFirst) throw error
      warn(`the files for the collector of ${what} cannot be used: ${inWords(error)}`)
      return TRUSTS_NOBODY
    })
    return make(pem)
  }
  const followed = await ReloadedFiles.open({
    what: `certificates for the collector of ${what}`,
    paths: [...files.values()],
    ...{ read, clock, log },
  })
  const exporter = followed.current
  let inUse: Exporter = { export: exporter.export.bind(exporter), shutdown: exporter.shutdown.bind(exporter) }
  exporter.export = (...args) => inUse.export(...args)
  exporter.shutdown = () => inUse.shutdown()
  followed.onChange((next) => {
    const before = inUse
    inUse = next
    void before.shutdown().catch(() => {})
  })
  return { exporter, stop: () => followed.close() }
}
