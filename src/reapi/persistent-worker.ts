import { createHash } from 'node:crypto'
import type { PlatformProperty } from './platform.js'

/** Properties of actions that a persistent worker may run, as Bazel and Buck2 send them. */
export const PERSISTENT_WORKER_KEY = 'persistentWorkerKey'
export const PERSISTENT_WORKER_PROTOCOL = 'persistentWorkerProtocol'

/** Whose action it is. */
export interface WarmFacts {
  readonly instanceName: string
  /** Empty for a trusted caller. */
  readonly scope?: string | undefined
  readonly properties: readonly PlatformProperty[]
}

/**
 * Actions of one key may find a warm process where another of them ran: a hint for schedulers. Workers compare more before
 * they use a process. Undefined if the action asks for none.
 */
export const warmKeyOf = ({ instanceName, scope = '', properties }: WarmFacts): string | undefined => {
  const own = properties.filter(({ name }) => name === PERSISTENT_WORKER_KEY || name === PERSISTENT_WORKER_PROTOCOL)
  if (!own.some(({ name, value }) => name === PERSISTENT_WORKER_KEY && value !== '')) return undefined
  const values = own.map(({ name, value }) => [name, value])
  const hash = createHash('sha256')
    .update(JSON.stringify([instanceName, scope, values]))
    .digest('hex')
  return `tool:${hash.slice(0, 32)}`
}
