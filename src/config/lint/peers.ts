import type { SimpleSchedulerOptions } from '../config.js'
import { innermost } from '../innermost.js'
import type { Path } from '../read/path.js'
import { isLocalOnly, parseEndpoint } from '../value/address.js'
import { type LintContext, storeBehind } from './context.js'

/** Several servers with one queue have to reach each other and one engine, and speak for the callers of each other. */
export const lintPeers = (context: LintContext): void => {
  const { config, findings, originOf, isWhole } = context
  for (const scheduler of config.schedulers.values()) {
    const options = innermost(scheduler)
    if (options === undefined) continue
    const { peers } = options
    const engine = engineOf(options)
    const at = originOf(options)
    if (engine === undefined) {
      if (peers !== undefined) {
        const expected =
          'an experimental_backend that the servers share, such as {redis: {redis_store: NAME}} or {object: {object_store: NAME}}'
        findings.error([...at, 'peers'], 'peers have nothing to agree by', { found: 'memory', expected })
      }
      continue
    }
    if (peers === undefined) {
      const expected = 'peers.endpoint.address: where the other servers reach this one'
      findings.error([...at, 'experimental_backend'], 'the servers of one queue do not know where this one is', {
        expected,
      })
      continue
    }
    lintEngine(engine, at, context)
    if (engine.storeKind === OBJECTS && peers.lease_s !== undefined && peers.lease_s < SHORT_LEASE_S) {
      findings.warning([...at, 'peers', 'lease_s'], 'a bucket is written and read three times in this time', {
        found: `${peers.lease_s} s`,
        expected: `${SHORT_LEASE_S} s or more: providers take about one write of an object a second, and each costs`,
      })
    }
    const address = endpointOf(peers.endpoint.address)
    const path = [...at, 'peers', 'endpoint', 'address']
    if (address === undefined) {
      const expected = 'grpc://HOST:PORT or grpcs://HOST:PORT, as the other servers reach this one'
      findings.error(path, 'this is no address of a server', { found: peers.endpoint.address, expected })
    } else if (isWhole && config.security === undefined && !isLocalOnly(address.host)) {
      const expected =
        '`security`, with a rule that grants `forward` to the certificates, or a token, of the servers only'
      findings.error(path, 'whoever reaches this address may speak for every caller', { expected })
    }
  }
}

const OBJECTS = 'experimental_cloud_object_store'
const SHORT_LEASE_S = 5

interface NamedEngine {
  readonly storeName: string
  readonly storeKind: 'redis_store' | typeof OBJECTS
  /** Below the scheduler. */
  readonly path: Path
}

const engineOf = ({ experimental_backend: backend }: SimpleSchedulerOptions): NamedEngine | undefined => {
  if (typeof backend !== 'object') return undefined
  if ('object' in backend) {
    const path = ['experimental_backend', 'object', 'object_store']
    return { storeName: backend.object.object_store, storeKind: OBJECTS, path }
  }
  const path = ['experimental_backend', 'redis', 'redis_store']
  return { storeName: backend.redis.redis_store, storeKind: 'redis_store', path }
}

const lintEngine = ({ storeName, storeKind, path }: NamedEngine, at: Path, { config, findings }: LintContext): void => {
  const store = storeBehind(config.stores, storeName)
  if (store === undefined || store.kind === storeKind) return
  const expected = `${storeKind === OBJECTS ? 'an' : 'a'} ${storeKind}`
  findings.error([...at, ...path], `store ${storeName} cannot say who leads`, { found: store.kind, expected })
}

const endpointOf = (text: string) => {
  try {
    return parseEndpoint(text)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
