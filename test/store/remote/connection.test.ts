import { connect } from 'node:net'
import t from 'tap'
import { Code, StatusError } from '../../../src/base/status-error.js'
import { HealthRegistry } from '../../../src/health/registry.js'
import { connectionProbe } from '../../../src/store/remote/connection-health.js'
import { networkFailure } from '../../../src/store/remote/failure.js'
import { optionalPackage } from '../../../src/store/remote/optional-package.js'

void t.test('a connection is a separate component, and recovers without a restart', async (t) => {
  let failure: StatusError | undefined
  const probe = connectionProbe('CAS/slow', {
    name: '10.0.0.5:6379',
    structName: 'RedisConnections',
    timeoutMs: 5,
    failureOf: StatusError.from,
    ping: async () => {
      if (failure?.code === Code.DEADLINE_EXCEEDED) await new Promise(() => {})
      if (failure !== undefined) throw failure
    },
  })
  const registry = new HealthRegistry()
  registry.register(probe)
  t.same(await registry.report(5000), [
    {
      namespace: '/connections/CAS/slow/10.0.0.5:6379',
      component: 'connections/CAS/slow/10.0.0.5:6379',
      status: { Ok: { struct_name: 'RedisConnections', message: 'connected to 10.0.0.5:6379' } },
    },
  ])
  // Uses the probe directly, because a report may have the previous answer of a slow probe.
  const status = () => probe.check(new AbortController().signal)
  const failed = (error: string) => ({ state: 'Failed', message: 'no connection to 10.0.0.5:6379', error })
  failure = new StatusError('UNAVAILABLE', 'nobody listens there (ECONNREFUSED)')
  t.same(await status(), failed('UNAVAILABLE: nobody listens there (ECONNREFUSED)'))
  failure = new StatusError('DEADLINE_EXCEEDED', '')
  t.same(await status(), failed('DEADLINE_EXCEEDED: 10.0.0.5:6379 did not answer within 5 ms'))
  failure = undefined
  t.same(await status(), { state: 'Ok', message: 'connected to 10.0.0.5:6379' })
})

void t.test('a network error becomes a status with a text, however deep it is nested', async (t) => {
  const refused = await new Promise<Error>((resolve) => connect({ host: '127.0.0.1', port: 1 }).once('error', resolve))
  const expected = { code: Code.UNAVAILABLE, message: 'Redis at 127.0.0.1:1: nobody listens there (ECONNREFUSED)' }
  for (const thrown of [
    refused,
    new AggregateError([refused]),
    new Error('the client wraps it', { cause: refused }),
    new Error('twice', { cause: new AggregateError([refused]) }),
  ]) {
    t.match(networkFailure('Redis at 127.0.0.1:1', thrown), expected, thrown.message)
  }
  t.equal(networkFailure('x', new Error('something else')), undefined)
  const slow = Object.assign(new Error(''), { code: 'ETIMEDOUT' })
  t.equal(networkFailure('x', slow)?.code, Code.DEADLINE_EXCEEDED)
})

void t.test('a client package that is not installed is a start error that says what to install', async (t) => {
  const name = '@redis/client'
  const missing = Object.assign(new Error(`Cannot find package '${name}' imported from x`), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
  await t.rejects(
    optionalPackage(name, () => Promise.reject(missing)),
    {
      code: Code.FAILED_PRECONDITION,
      message:
        /^the package @redis\/client is needed for this and is not installed: npm install @redis\/client@\d+\.\d+\.\d+$/,
    },
  )
  const broken = Object.assign(new Error("Cannot find package 'inner' imported from x"), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
  await t.rejects(
    optionalPackage(name, () => Promise.reject(broken)),
    broken,
  )
  t.same(await optionalPackage(name, async () => ({ is: 'here' })), { is: 'here' })
})
