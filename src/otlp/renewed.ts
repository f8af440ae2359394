import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Clock } from '../base/clock.js'
import { inWords, startFailure } from '../base/errno.js'
import { warnOfModes } from '../base/file-modes.js'
import type { Log } from '../base/log.js'
import { ReloadedFiles } from '../base/reloaded-files.js'
import { StatusError } from '../base/status-error.js'
import type { TlsVariables } from './settings.js'

interface Exporter {
  export(...args: never): void
  shutdown(): Promise<void>
}

export interface RenewedParts {
  /** `metrics`. */
  readonly what: string
  readonly files: TlsVariables
  readonly clock: Clock
  readonly log: Log
}

/**
 * The exporter that `make` makes, behind which another takes its place when a file of its TLS changes: they read these files once,
 * when they are made. What was given to the one before is still sent by it. Files that cannot be used are told, and
 * keep nobody from starting.
 */
export const renewed = async <E extends Exporter>(
  make: () => Promise<E>,
  { what, files, clock, log }: RenewedParts,
): Promise<{ readonly exporter: E; readonly stop: () => void }> => {
  const exporter = await make()
  if (files.size === 0) return { exporter, stop: () => {} }
  let isFirst = true
  let inUse: Exporter = { export: exporter.export.bind(exporter), shutdown: exporter.shutdown.bind(exporter) }
  exporter.export = (...args) => inUse.export(...args)
  exporter.shutdown = () => inUse.shutdown()
  const warn = (message: string): void => log.warn(message, {})
  const read = async (): Promise<Exporter> => {
    const wasFirst = isFirst
    isFirst = false
    try {
      await check(files, warn)
    } catch (error) {
      if (!wasFirst) throw error
      warn(`the files for the collector of ${what} cannot be used: ${inWords(error)}`)
    }
    return wasFirst ? inUse : make()
  }
  const followed = await ReloadedFiles.open({
    what: `certificates for the collector of ${what}`,
    paths: [...files.values()],
    ...{ read, clock, log },
  })
  followed.onChange((next) => {
    const before = inUse
    inUse = next
    void before.shutdown().catch(() => {})
  })
  return { exporter, stop: () => followed.close() }
}

/** A key that is there before its certificate is for the next look. */
const check = async (files: TlsVariables, warn: (message: string) => void): Promise<void> => {
  const contents = new Map<string, Buffer>()
  for (const [variable, path] of files) {
    contents.set(kindOf(variable), await contentOf(variable, path))
    await warnOfModes(variable, path, { isSecret: variable.endsWith('KEY') }, warn)
  }
  try {
    createSecureContext(Object.fromEntries(contents))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StatusError('INVALID_ARGUMENT', `${[...files.keys()].join(', ')}: ${reason}`, { cause })
  }
}

const contentOf = async (variable: string, path: string): Promise<Buffer> => {
  try {
    return await readFile(path)
  } catch (error) {
    throw startFailure(variable, error)
  }
}

const kindOf = (variable: string): 'key' | 'cert' | 'ca' => {
  if (variable.endsWith('CLIENT_KEY')) return 'key'
  return variable.endsWith('CLIENT_CERTIFICATE') ? 'cert' : 'ca'
}
