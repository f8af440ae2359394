/** Connect timeouts of backends, where the configuration has one. */
import t from 'tap'
import { Code } from '../../../src/base/status-error.js'
import { bytesOf, call, digestOf, get, isPresent, put, putStream, source } from '../blobs.js'
import { openObjectStore } from '../kinds/experimental_cloud_object_store/open.js'
import { openMongoStore } from '../kinds/experimental_mongo/open.js'
import { openRedisStore } from '../kinds/redis_store/redis.js'
import { startFullHost } from './full-host.js'

// These tests wait for timers and programs, most of them for seconds: side by side they take as long as the longest.
t.jobs = 4

const NO_RETRY = { max_retries: 0, delay: 0, jitter: 0, budget_s: 0 }

/** Which of two timers fires first; the one with the longer time was started first. */
const firstOf = (longer: Promise<unknown>, shorter: Promise<unknown>): Promise<string> =>
  Promise.race([longer.then(() => 'the longer one'), shorter.then(() => 'the shorter one')])

void t.test('redis_store: connection_timeout_ms, and connection_timeout_s in its place', async (t) => {
  const port = await startFullHost(t)
  const opened = (options: object) => openRedisStore(t, [`redis://127.0.0.1:${port}`], { ...options, retry: NO_RETRY })
  const compared = async (shorter: object): Promise<void> => {
    const longer = opened({ connection_timeout_ms: 4000 })
    t.equal(await firstOf(longer, opened(shorter)), 'the shorter one')
    await longer
  }
  await Promise.all([compared({ connection_timeout_ms: 1000 }), compared({ connection_timeout_s: 1 })])
})

void t.test('experimental_mongo: connection_timeout_ms', async (t) => {
  const port = await startFullHost(t)
  const refused = async (connection_timeout_ms: number): Promise<unknown> => {
    const { store, close } = await openMongoStore(port, { connection_timeout_ms })
    t.teardown(close)
    return t.rejects(get(store, digestOf(bytesOf(10))), { code: Code.UNAVAILABLE })
  }
  const longer = refused(1500)
  t.equal(await firstOf(longer, refused(300)), 'the shorter one')
  await longer
})

void t.test('gcs: connection_timeout_s', async (t) => {
  const endpoint = `http://127.0.0.1:${await startFullHost(t)}`
  const { store, close } = await openObjectStore({ provider: 'gcs', bucket: 'b', endpoint, connection_timeout_s: 1 })
  t.teardown(close)
  // Not because it was silent for `read_timeout_s`.
  const late = { code: Code.DEADLINE_EXCEEDED, message: /ETIMEDOUT/ }
  const [small, large] = [bytesOf(10), bytesOf(3_000_000)]
  const health = store.health(call)
  await Promise.all([
    t.rejects(get(store, digestOf(small)), late),
    t.rejects(isPresent(store, digestOf(small)), late),
    t.rejects(put(store, digestOf(small), small), late),
    t.rejects(store.remove(digestOf(small), 'wrong', call), late),
    // It begins with a separate request.
    t.rejects(putStream(store, digestOf(large).asKey(), source([large]), call.signal), late),
  ])
  t.match(await health, { state: 'Failed', error: /ETIMEDOUT/ })
})
