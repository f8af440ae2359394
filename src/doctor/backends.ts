import { systemClock } from '../base/clock.js'
import { Code, StatusError } from '../base/status-error.js'
import type { Config, StoreConfig } from '../config/config.js'
import type { Log } from '../log/log.js'
import type { SecretLearner } from '../log/secrets.js'
import { internalCall } from '../rpc/call.js'
import { buildStores } from '../store/builder.js'
import { LATE, within } from '../work/deadline.js'
import { Resources } from '../work/resources.js'
import { type PlacedStore, placedStores } from './file-stores.js'
import { type Finding, fault, ok, warning } from './finding.js'

/** How long a backend may take to answer. */
const PATIENCE_MS = 10_000
const SLOW_MS = 500

const REMOTE_KINDS: ReadonlySet<StoreConfig['kind']> = new Set<StoreConfig['kind']>([
  'grpc',
  'redis_store',
  'experimental_mongo',
  'experimental_cloud_object_store',
])

interface Parts {
  readonly log: Log
  readonly secrets: SecretLearner
}

/** Connects to each backend with the store's own client, and asks it as the health check does. */
export const backendFindings = (config: Pick<Config, 'stores'>, parts: Parts): Promise<Finding[]> =>
  Promise.all(
    placedStores(config)
      .filter(({ store }) => REMOTE_KINDS.has(store.kind))
      .map((placed) => findingOf(placed, parts)),
  )

const findingOf = async ({ path, store }: PlacedStore, { log, secrets }: Parts): Promise<Finding> => {
  const subject = `backend of store ${path}`
  const resources = new Resources(log)
  const abort = new AbortController()
  const ask = async (): Promise<Finding> => {
    const parts = { resources, clock: systemClock, log, secrets, watch: () => {} }
    const built = (await buildStores(new Map([[path, store]]), parts)).get(path)
    const beganMs = performance.now()
    const status = await built?.health(internalCall({ signal: abort.signal, log }))
    const tookMs = Math.round(performance.now() - beganMs)
    if (status?.state === 'Failed') return fault(subject, `${status.message}: ${status.error}`, ADVICE)
    if (status?.state === 'Warning') return warning(subject, status.message, ADVICE)
    if (tookMs > SLOW_MS)
      return warning(
        subject,
        `answers after ${tookMs} ms`,
        'use a backend nearby, or a disk in front of it (fast_slow)',
      )
    return ok(subject, `answers after ${tookMs} ms`)
  }
  try {
    const finding = await within(PATIENCE_MS, ask())
    return finding === LATE ? fault(subject, `does not answer within ${PATIENCE_MS / 1000} s`, ADVICE) : finding
  } catch (error) {
    const { code, message } = StatusError.from(error)
    // A wrong file or a missing package: the message says what to do.
    return code === Code.FAILED_PRECONDITION ? { level: 'error', subject, message } : fault(subject, message, ADVICE)
  } finally {
    abort.abort()
    await resources.close()
  }
}

const ADVICE = 'check its address, the credentials and the network between'
