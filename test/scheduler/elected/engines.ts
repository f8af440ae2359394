/** The engines of an election, each against a real server. */
import type { Test } from 'tap'
import { silentLog } from '../../../src/log/log.js'
import { unhiddenSecrets } from '../../../src/log/secrets.js'
import type { Campaign, Candidate, Engine } from '../../../src/scheduler/elected/engine.js'
import { ObjectEngine } from '../../../src/scheduler/elected/object-engine.js'
import { RedisEngine } from '../../../src/scheduler/elected/redis-engine.js'
import { openBucket } from '../../../src/store/kinds/experimental_cloud_object_store/open-bucket.js'
import { parseAddresses } from '../../../src/store/kinds/redis_store/address.js'
import { RedisConnections } from '../../../src/store/kinds/redis_store/connections.js'
import { redisFailure } from '../../../src/store/kinds/redis_store/failure.js'
import { startAzure, withoutAzure } from '../../store/kinds/experimental_cloud_object_store/azure-server.js'
import { startGcs, withoutGcs } from '../../store/kinds/experimental_cloud_object_store/gcs-server.js'
import { DEFAULTS, type OpenOptions } from '../../store/kinds/experimental_cloud_object_store/open.js'
import { S3_KEYS, startS3, withoutS3 } from '../../store/kinds/experimental_cloud_object_store/s3-server.js'
import { ask, startCluster, startRedis, withoutRedis } from '../../store/kinds/redis_store/redis.js'

/** For what nobody times: no test waits for its end. */
export const LONG_MS = 3_600_000

/** A server that keeps who leads. */
export interface EngineServer {
  /** One for each candidate: some remember what they have seen. */
  open(): Promise<Engine>
  /** Loses all of it. */
  forget(): Promise<void>
  /** Something else writes over who leads. */
  spoil(): Promise<void>
  kill(): Promise<unknown>
}

export interface EngineKind {
  readonly name: string
  readonly skip: string | false
  /** False if two may be elected at once, until the next call of the one whose write was lost. */
  readonly isAtomic?: boolean
  start(t: Test): Promise<EngineServer>
}

export const candidate = (id: string, settings: Candidate['settings'] = {}): Candidate => ({
  id,
  address: `grpc://${id}:1`,
  settings,
})

export const campaign = (id: string, { highestEpoch = 0, leaseMs = LONG_MS, mayLead = true } = {}): Campaign => ({
  ...{ candidate: candidate(id), highestEpoch, leaseMs, mayLead, secret: `secret-of-${id}` },
})

/** The engine at a Redis server or cluster. */
export const redisEngine = async (
  t: Test,
  port: number,
  mode: 'standard' | 'cluster' = 'standard',
  schedulerName = 'MAIN',
) => {
  const target = parseAddresses(mode, [`redis://127.0.0.1:${port}`])
  const bounds = { poolSize: 1, connectTimeoutMs: 60_000, commandTimeoutMs: 60_000, log: silentLog }
  const connections = await RedisConnections.open({ target, ...bounds })
  t.teardown(() => connections.close())
  await connections.ready(60_000)
  const failureOf = (thrown: unknown) => redisFailure('Redis', thrown)
  return new RedisEngine({ connections, name: 'Redis', keyPrefix: 'p:', schedulerName, failureOf })
}

const redis = (mode: 'standard' | 'cluster'): EngineKind => ({
  name: `Redis, ${mode}`,
  skip: withoutRedis,
  start: async (t) => {
    const nodes = mode === 'cluster' ? await startCluster(t, 3) : [await startRedis(t)]
    const [{ port } = { port: 0 }] = nodes
    const onEach = async (...command: string[]): Promise<void> => {
      // Only one node has the slot of the keys.
      for (const node of nodes) await ask(node.port, ...command).catch(() => {})
    }
    return {
      open: () => redisEngine(t, port, mode),
      forget: () => onEach('FLUSHALL'),
      spoil: () => onEach('SET', 'p:remexec:{MAIN}:lease', 'nonsense'),
      kill: () => Promise.all(nodes.map((node) => node.kill())),
    }
  },
})

const bucketEngine = async (t: Test, options: OpenOptions): Promise<ObjectEngine> => {
  const bucket = await openBucket({ ...DEFAULTS, key_prefix: '', ...options }, unhiddenSecrets)
  t.teardown(() => bucket.close())
  return new ObjectEngine({ bucket, keyPrefix: 'p/', schedulerName: 'MAIN' })
}

export const LEASE_KEY = 'p/remexec/MAIN/lease'

const object = (
  name: string,
  skip: string | false,
  start: (t: Test) => Promise<{ options: OpenOptions; kill: () => Promise<unknown> }>,
): EngineKind => ({
  name,
  skip,
  start: async (t) => {
    const { options, kill } = await start(t)
    const signal = new AbortController().signal
    const bucket = await openBucket({ ...DEFAULTS, key_prefix: '', ...options }, unhiddenSecrets)
    t.teardown(() => bucket.close())
    return {
      kill,
      open: () => bucketEngine(t, options),
      forget: () => bucket.remove(LEASE_KEY, signal),
      spoil: async () => void (await bucket.write(LEASE_KEY, Buffer.from('nonsense'), false, signal)),
    }
  },
})

export const s3Options = (port: number, bucket: string): OpenOptions => ({
  ...{ provider: 'aws', bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` },
  ...{ access_key_id: S3_KEYS.accessKeyId, secret_access_key: S3_KEYS.secretAccessKey },
})

export const engineKinds: readonly EngineKind[] = [
  redis('standard'),
  redis('cluster'),
  {
    ...object('S3', withoutS3, async (t) => {
      const { port, bucket, kill } = await startS3(t)
      return { options: s3Options(port, bucket), kill }
    }),
    // versitygw checks the condition in one step and writes in another.
    isAtomic: false,
  },
  object('Google Cloud Storage', withoutGcs, async (t) => {
    const { bucket, proxy, kill } = await startGcs(t)
    return { options: { provider: 'gcs', bucket, endpoint: `http://127.0.0.1:${proxy.port}` }, kill }
  }),
  object('Azure', withoutAzure, async (t) => {
    const { sasUrl, container, kill } = await startAzure(t)
    return { options: { provider: 'azure', container, sas_url: sasUrl(LONG_MS) }, kill }
  }),
]
