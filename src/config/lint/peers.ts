import { innermost } from '../innermost.js'
import { isLocalOnly, parseEndpoint } from '../value/address.js'
import { type LintContext, storeBehind } from './context.js'

/** Several servers with one queue have to reach each other and one engine, and speak for the callers of each other. */
export const lintPeers = ({ config, findings, originOf, isWhole }: LintContext): void => {
  for (const scheduler of config.schedulers.values()) {
    const options = innermost(scheduler)
    if (options === undefined) continue
    const { experimental_backend: backend, peers } = options
    const storeName = typeof backend === 'object' ? backend.redis?.redis_store : undefined
    const at = originOf(options)
    if (storeName === undefined) {
      if (peers !== undefined) {
        const expected = 'an experimental_backend that the servers share, such as {redis: {redis_store: NAME}}'
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
    const store = storeBehind(config.stores, storeName)
    if (store !== undefined && store.kind !== 'redis_store') {
      const path = [...at, 'experimental_backend', 'redis', 'redis_store']
      findings.error(path, `store ${storeName} cannot say who leads`, { found: store.kind, expected: 'a redis_store' })
    }
    const address = endpointOf(peers.endpoint.address)
    const path = [...at, 'peers', 'endpoint', 'address']
    if (address === undefined) {
      const expected = 'grpc://HOST:PORT or grpcs://HOST:PORT, as the other servers reach this one'
      findings.error(path, 'this is no address of a server', { found: peers.endpoint.address, expected })
    } else if (isWhole && config.security === undefined && !isLocalOnly(address.host)) {
      const expected = '`security`, with a rule that grants `forward` to the certificates of the servers only'
      findings.error(path, 'whoever reaches this address may speak for every caller', { expected })
    }
  }
}

const endpointOf = (text: string) => {
  try {
    return parseEndpoint(text)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
