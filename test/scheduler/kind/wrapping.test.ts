import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Metadata } from '@grpc/grpc-js'
import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { putBytes } from '../../../src/blobs/store.js'
import type { SchedulerConfig } from '../../../src/config/config.js'
import { silentLog } from '../../../src/log/log.js'
import { codec } from '../../../src/proto/codec.js'
import { REQUEST_METADATA } from '../../../src/proto/request-metadata.js'
import { internalCall } from '../../../src/rpc/call.js'
import { Spread } from '../../../src/scheduler/elected/spread.js'
import { ForwardingScheduler } from '../../../src/scheduler/forwarding.js'
import { cacheLookup } from '../../../src/scheduler/kind/cache-lookup.js'
import { historicalResource } from '../../../src/scheduler/kind/historical-resource.js'
import { propertyModifier } from '../../../src/scheduler/kind/property-modifier.js'
import type { BuildContext } from '../../../src/scheduler/kind.js'
import type { ExecutionRequest, Scheduler } from '../../../src/scheduler/scheduler.js'
import { asKeyed } from '../../../src/store/view/keyed.js'
import { Resources } from '../../../src/work/resources.js'
import { buildAction, Reader, responseOf, resultCodec, serveExecution } from '../../service/execution-harness.js'
import { until } from '../../until.js'

/** The `simple` options are unused: the tests pass the wrapped scheduler directly. */
const inner = { kind: 'simple', options: {} } as unknown as SchedulerConfig

const contextOf = (next: Scheduler, clock = new ManualClock()): BuildContext => ({
  ...{ name: 'main', clock, log: silentLog, newId: () => 'id', resources: new Resources(silentLog) },
  results: { find: async () => undefined, keep: async (_, response) => response },
  spread: new Spread(),
  watch: () => {},
  child: async () => next,
})

type Properties = ExecutionRequest['properties']
const pairs = (properties: Properties): string => properties.map(({ name, value }) => `${name}=${value}`).join(' ')

t.test('property_modifier: applies modifications in order, each to the result of the previous one', async (t) => {
  const server = await serveExecution(t)
  const modified = async (
    modifications: Parameters<typeof propertyModifier.build>[0]['modifications'],
  ): Promise<string> => {
    const scheduler = await propertyModifier.build({ modifications, scheduler: inner }, contextOf(server.host))
    const properties = [
      { name: 'os', value: 'linux' },
      { name: 'cpu', value: '2' },
    ]
    const request = { properties } as unknown as ExecutionRequest
    return pairs((scheduler as ForwardingScheduler).incoming(request).properties)
  }
  t.equal(await modified([]), 'os=linux cpu=2')
  t.equal(await modified([{ add: { name: 'pool', value: 'a' } }]), 'os=linux cpu=2 pool=a')
  t.equal(await modified([{ add: { name: 'os', value: 'mac' } }]), 'cpu=2 os=mac', 'overwrites')
  t.equal(await modified([{ remove: 'os' }, { remove: 'nothing' }]), 'cpu=2')
  t.equal(await modified([{ replace: { name: 'os', new_name: 'OSFamily' } }]), 'OSFamily=linux cpu=2')
  t.equal(await modified([{ replace: { name: 'os', value: 'mac', new_name: 'x' } }]), 'os=linux cpu=2')
  t.equal(
    await modified([
      { replace: { name: 'os', value: 'linux', new_name: 'os', new_value: 'Linux' } },
      { remove: 'cpu' },
    ]),
    'os=Linux',
  )
})

t.test('property_modifier: checks and workers see the modified properties', async (t) => {
  const settings = { supportedPlatformProperties: new Map([['OSFamily', 'exact' as const]]) }
  let scheduler: Scheduler | undefined
  const modifications = [{ replace: { name: 'os', new_name: 'OSFamily' } }]
  const server = await serveExecution(t, {
    settings,
    before: (host) => {
      scheduler = new ForwardingScheduler(host)
      return {
        ...{ workers: host.workers, operator: host.operator, drain: () => {}, idle: async () => {}, close: () => {} },
        checkPlatform: (properties) => modifier.then((one) => one.checkPlatform(properties)),
        execute: (request) => modifier.then((one) => one.execute(request)),
        nameOf: (instance, id) => host.nameOf(instance, id),
        watch: (name, signal) => host.watch(name, signal),
        get: (name) => host.get(name),
        operations: (instance, after) => host.operations(instance, after),
        cancel: (name) => host.cancel(name),
        delete: (name) => host.delete(name),
      }
    },
  })
  const modifier = propertyModifier.build({ modifications, scheduler: inner }, contextOf(scheduler ?? server.host))
  const platform = { properties: [{ name: 'os', value: 'linux' }] }
  const stream = new Reader(server.execute(await server.upload(buildAction({ action: { platform } }))))
  const worker = await server.worker({ properties: [{ name: 'OSFamily', values: ['linux'] }] })
  const start = await worker.start()
  t.equal(pairs(start.properties), 'OSFamily=linux')
  worker.succeed(start)
  t.equal((await stream.rest()).at(-1)?.done, true)
})

t.test('cache_lookup: a result in its action cache is returned, and nothing runs', async (t) => {
  let lookup: Scheduler | undefined
  const server = await serveExecution(t, {
    before: (host) => {
      const forwarding = new ForwardingScheduler(host)
      const through = cacheLookup.build({ ac_store: 'OTHER', scheduler: inner }, contextOf(host))
      void through.then((built) => {
        lookup = built
      })
      forwarding.execute = (request) => (lookup ?? host).execute(request)
      return forwarding
    },
  })
  const built = await server.upload(buildAction())
  const result = resultCodec.encode({ stdoutRaw: Buffer.from('from before') })
  await putBytes(asKeyed(server.otherCache), built.digest, result, internalCall())
  const last = (await new Reader(server.execute(built)).rest()).at(-1)
  if (last === undefined) throw new Error('no operation')
  t.equal(responseOf(last).cachedResult, true)
  t.equal(responseOf(last).result?.stdoutRaw.toString(), 'from before')

  const anew = new Reader(server.execute(built, { skipCacheLookup: true }))
  const worker = await server.worker()
  worker.succeed(await worker.start())
  t.equal((await anew.rest()).at(-1)?.done, true, 'skip_cache_lookup runs')
})

t.test('historical_resource: amounts are raised to those of the hints, by target and mnemonic', async (t) => {
  const path = join(t.testdir(), 'hints.json')
  const write = (hints: unknown) => writeFile(path, JSON.stringify(hints))
  await write({
    hints: [
      { target_id: '//a', action_mnemonic: 'Link', cpu_count: 4, memory_mib: 2 },
      { target_id: '//a', cpu_count: 2.5 },
      { action_mnemonic: 'Link', memory_kb: 100 },
    ],
  })
  const clock = new ManualClock()
  const options = {
    ...{ hints_file: path, refresh_interval_s: 30, scheduler: inner },
    ...{ cpu_property_name: 'cpu', memory_property_name: 'memory' },
  }
  const server = await serveExecution(t)
  const scheduler = (await historicalResource.build(options, contextOf(server.host, clock))) as ForwardingScheduler
  const raised = (target: string, mnemonic: string, properties: Properties = []): string =>
    pairs(scheduler.incoming({ properties, target, mnemonic } as unknown as ExecutionRequest).properties)
  t.equal(raised('//a', 'Link'), 'cpu=4 memory=2048', 'both')
  t.equal(raised('//a', 'Compile'), 'cpu=3', 'the target, rounded up')
  t.equal(raised('//b', 'Link'), 'memory=100', 'the mnemonic')
  t.equal(raised('//b', 'Compile'), '')
  t.equal(raised('', ''), '')
  t.equal(raised('//a', 'Link', [{ name: 'cpu', value: '8' }]), 'cpu=8 memory=2048', 'only ever raised')
  t.equal(raised('//a', 'Compile', [{ name: 'cpu', value: '1' }]), 'cpu=3')
  t.equal(raised('//a', 'Compile', [{ name: 'cpu', value: 'many' }]), 'cpu=many', 'refused by who counts')

  await write([{ target_id: '//b', cpu_count: 9 }])
  clock.advance(30_000)
  await until(() => raised('//b', 'Compile') !== '')
  t.equal(raised('//b', 'Compile'), 'cpu=9', 'read again')
  for (const [hints, message] of [
    [{}, /expected a list, or/],
    [[1], /hint 0: expected an object/],
    [[{ cpu_count: 1 }], /expected a target_id, an action_mnemonic or both/],
    [[{ target_id: 'x', cpus: 1 }], /unknown key "cpus", expected target_id/],
    [[{ target_id: 'x', cpu_count: -1 }], /cpu_count: expected a number/],
  ] as const) {
    await write(hints)
    await t.rejects(historicalResource.build(options, contextOf(server.host)), { message })
  }
})

t.test('RequestMetadata of the client reaches the scheduler', async (t) => {
  const requests: ExecutionRequest[] = []
  const server = await serveExecution(t, {
    before: (host) => {
      const forwarding = new ForwardingScheduler(host)
      forwarding.incoming = (request) => {
        requests.push(request)
        return request
      }
      return forwarding
    },
  })
  const metadata = codec('build.bazel.remote.execution.v2.RequestMetadata').encode({
    toolInvocationId: 'build-1',
    targetId: '//a:b',
    actionMnemonic: 'Link',
  })
  const headers = new Metadata()
  headers.set(REQUEST_METADATA, metadata)
  const built = await server.upload(buildAction())
  const stream = server.client.serverStream(
    'build.bazel.remote.execution.v2.Execution/Execute',
    { actionDigest: { hash: built.digest.hash, sizeBytes: built.digest.sizeBytes } },
    { metadata: headers },
  )
  await new Reader(stream).next()
  t.match(requests, [{ invocation: 'build-1', target: '//a:b', mnemonic: 'Link', metadata }])
  stream.cancel()
})
