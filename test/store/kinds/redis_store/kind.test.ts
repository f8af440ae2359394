import t, { type Test } from 'tap'
import { storeSuite } from '../../suite.js'
import { keysAt, openRedisStore, type RedisServer, startCluster, startRedis, withoutRedis } from './redis.js'

const suiteOn = (name: string, mode: 'standard' | 'cluster', servers: readonly RedisServer[], runs: number): void => {
  const addresses = servers.map(({ address }) => address)
  let stores = 0
  const open = async (t: Test) => {
    const options = { mode, key_prefix: `${stores++}:` }
    const leftovers = async (): Promise<string[]> => {
      const keys = await Promise.all(servers.map(({ port }) => keysAt(port)))
      return keys.flat().filter((key) => key.includes('upload:'))
    }
    return {
      ...(await openRedisStore(t, addresses, options)),
      reopen: () => openRedisStore(t, addresses, options),
      leftovers,
    }
  }
  storeSuite(t, { name, open, isPersistent: true, isElsewhere: true, runs })
}

if (withoutRedis) t.plan(0, withoutRedis)
else {
  const server = await startRedis(t)
  const cluster = await startCluster(t, 3)
  suiteOn('redis_store', 'standard', [server], 15)
  suiteOn('redis_store on a cluster', 'cluster', cluster, 5)
}
