import type { Test } from 'tap'
import { storeSuite } from '../../suite.js'
import { keysAt, openRedisStore, type RedisServer, startCluster, startRedis, withoutRedis } from './redis.js'

const suiteOn = (
  t: Test,
  name: string,
  mode: 'standard' | 'cluster',
  servers: readonly RedisServer[],
  isBrief: boolean,
): void => {
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
  storeSuite(t, { name, open, isPersistent: true, isElsewhere: true, isBrief, runs: isBrief ? 5 : 15 })
}

/** The suite over a Redis and over a cluster, in full at least over the one. */
export const redisSuites = async (t: Test, isAllInFull: boolean): Promise<void> => {
  if (withoutRedis) return void t.plan(0, withoutRedis)
  const [server, cluster] = await Promise.all([startRedis(t), startCluster(t, 3)])
  suiteOn(t, 'redis_store', 'standard', [server], false)
  suiteOn(t, 'redis_store on a cluster', 'cluster', cluster, !isAllInFull)
}
