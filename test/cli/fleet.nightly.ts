import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { Code } from '../../src/base/status-error.js'
import { codec, type Output } from '../../src/proto/codec.js'
import { ExecutionStage } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { TestClient } from '../server/client.js'
import { responseOf, stageOf } from '../service/execution-harness.js'
import { TcpProxy } from '../store/remote/proxy.js'
import { until } from '../until.js'
import { type Program, serve } from './program.js'

// Machines that come, go and are killed. The rules themselves are tested in test/scheduler, test/worker and test/service.
// For changes in: src/scheduler, src/worker, src/service/execution, src/service/worker-api, src/process, src/assembly, src/command, src/rpc

t.setTimeout(180_000)

const { SHA256 } = digestFunctions
const REAPI = 'build.bazel.remote.execution.v2'
const commandCodec = codec(`${REAPI}.Command`)
const actionCodec = codec(`${REAPI}.Action`)
type Operation = Output<'google.longrunning.Operation'>

const scheduler = `{
  stores: {
    CAS: { filesystem: { content_path: '$REMEXEC_DATA/c', temp_path: '$REMEXEC_DATA/ct', eviction_policy: { max_bytes: '10mb' } } },
    AC: { filesystem: { content_path: '$REMEXEC_DATA/a', temp_path: '$REMEXEC_DATA/at', eviction_policy: { max_bytes: '10mb' } } },
  },
  schedulers: { S: { simple: { worker_timeout_s: 5 } } },
  servers: [{ name: 'all', listener: { http: { socket_address: '127.0.0.1:$REMEXEC_PORT' } }, services: {
    cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }],
    execution: [{ cas_store: 'CAS', scheduler: 'S' }], worker_api: { scheduler: 'S' },
  } }],
}`

const worker = `{
  global: { drain_s: 3600 },
  stores: { CAS: { fast_slow: {
    fast: { filesystem: { content_path: '$REMEXEC_DATA/c', temp_path: '$REMEXEC_DATA/t', eviction_policy: { max_bytes: '10mb' } } },
    slow: { grpc: { endpoints: [{ address: 'grpc://$SCHEDULER' }], store_type: 'cas', retry: { max_retries: 3, delay: 0.1 } } },
  } } },
  workers: [{ name: '$NAME', worker: {
    scheduler_endpoint: 'grpc://$SCHEDULER', cas_fast_slow_store: 'CAS', work_directory: '$REMEXEC_DATA/w', max_inflight_tasks: 1,
  } }],
  servers: [],
}`

/** A command with its own name, which writes to `log` when it begins. */
const actionOf = (name: string, log: string, script: string) => {
  const command = commandCodec.encode({ arguments: ['/bin/sh', '-c', `echo ${name} >> ${log}; ${script}`] })
  const root = Buffer.alloc(0)
  const action = actionCodec.encode({
    commandDigest: Digest.of(command, SHA256).toMessage(),
    inputRootDigest: Digest.of(root, SHA256).toMessage(),
  })
  return { digest: Digest.of(action, SHA256).toMessage(), blobs: [command, root, action] }
}

/** A scheduler and a machine with one slot for actions, each as its own process. */
const startFleet = async (t: Test) => {
  const data = t.testdir({ 's.json5': scheduler, 'w.json5': worker, s: {}, w: {}, v: {}, log: '' })
  const log = `${data}/log`
  const first = serve(t, `${data}/s.json5`, `${data}/s`)
  const [, port = ''] = await first.hears(/serving grpc:\/\/127\.0\.0\.1:(\d+)/)
  const client = new TestClient(`127.0.0.1:${port}`, { 'grpc.max_reconnect_backoff_ms': 500 })
  t.teardown(() => client.close())
  const startWorker = async (folder: 'w' | 'v', by = port): Promise<Program> => {
    const machine = serve(t, `${data}/w.json5`, `${data}/${folder}`, { SCHEDULER: `127.0.0.1:${by}`, NAME: folder })
    await machine.hears(/connected to the scheduler/)
    return machine
  }
  const actions = {
    finished: actionOf('finished', log, 'true'),
    running: actionOf('running', log, `echo $$ >> ${data}/pids; while [ ! -e ${data}/go ]; do sleep 0.05; done`),
    queued: actionOf('queued', log, 'true'),
  }
  for (const { blobs } of Object.values(actions)) {
    const requests = blobs.map((bytes) => ({ digest: Digest.of(bytes, SHA256).toMessage(), data: bytes }))
    await client.unary(`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`, { requests }).response
  }
  const operations = async function* (method: string, request: object): AsyncGenerator<Operation> {
    for await (const operation of client.serverStream(`${REAPI}.Execution/${method}`, request)) yield operation as never
  }
  return {
    first,
    /** The connection between machines and the scheduler. */
    proxy: () => TcpProxy.start(t, Number(port)),
    startWorker,
    restart: async () => {
      const again = serve(t, `${data}/s.json5`, `${data}/s`, { REMEXEC_PORT: port })
      await again.hears(/a worker connected/)
    },
    execute: (name: keyof typeof actions) => operations('Execute', { actionDigest: actions[name].digest }),
    wait: (name: string) => operations('WaitExecution', { name }),
    /** The names of the actions that have begun, one entry for each run. */
    /** The same for the runs of `running`. */
    pids: () => readFileSync(`${data}/pids`, 'utf8').trim().split('\n'),
    begun: () => readFileSync(log, 'utf8').trim().split('\n').sort(),
    /** Lets `running` end. */
    letGo: () => writeFileSync(`${data}/go`, ''),
  }
}

const lastOf = async (stream: AsyncIterable<Operation>): Promise<Operation> => {
  let last: Operation | undefined
  for await (const operation of stream) last = operation
  if (last === undefined) throw new Error('the stream was empty')
  return last
}

/** The name of the operation once it has reached this stage. */
const untilStage = async (stream: AsyncGenerator<Operation>, stage: number): Promise<string> => {
  for (let next = await stream.next(); next.done !== true; next = await stream.next())
    if (stageOf(next.value) === stage) return next.value.name
  throw new Error('the stream has ended')
}

t.test('a scheduler that was killed loses no operation that its clients wait for', async (t) => {
  const { first, startWorker, restart, execute, wait, begun, letGo } = await startFleet(t)
  await startWorker('w')
  const finished = await lastOf(execute('finished'))
  const [running, queued] = [execute('running'), execute('queued')]
  const runningName = await untilStage(running, ExecutionStage.EXECUTING)
  await until(() => begun().includes('running'))
  const queuedName = await untilStage(queued, ExecutionStage.QUEUED)
  first.child.kill('SIGKILL')
  await first.ended
  for (const stream of [running, queued]) await t.rejects(lastOf(stream), { code: Code.UNAVAILABLE })

  await restart()
  const found = wait(runningName)
  t.equal(await untilStage(found, ExecutionStage.EXECUTING), runningName, 'what runs goes on under its name')
  for (const name of [finished.name, queuedName]) await t.rejects(lastOf(wait(name)), { code: Code.NOT_FOUND })
  const asked = execute('queued')
  await untilStage(asked, ExecutionStage.QUEUED)
  letGo()
  t.match(responseOf(await lastOf(found)), { result: { exitCode: 0 }, status: null })
  t.match(responseOf(await lastOf(asked)), { result: { exitCode: 0 }, status: null })
  for (const name of ['finished', 'running'] as const) {
    const response = responseOf(await lastOf(execute(name)))
    t.match(response, { cachedResult: true, result: { exitCode: 0 } }, `the result of ${name} is found`)
  }
  t.same(begun(), ['finished', 'queued', 'running'], 'each has run once')
})

t.test('a machine that is asked to stop finishes its running action, and queued ones run on another', async (t) => {
  const { startWorker, execute, begun, letGo } = await startFleet(t)
  const ending = await startWorker('w')
  const running = execute('running')
  await untilStage(running, ExecutionStage.EXECUTING)
  await until(() => begun().includes('running'))
  const queued = execute('queued')
  ending.child.kill('SIGTERM')
  await ending.hears(/stopping/)
  await startWorker('v')
  t.match(responseOf(await lastOf(queued)), { result: { exitCode: 0, executionMetadata: { worker: 'v' } } })
  letGo()
  t.match(responseOf(await lastOf(running)), { result: { exitCode: 0, executionMetadata: { worker: 'w' } } })
  t.same(await ending.ended, { code: 143, signal: null })
  t.same(begun(), ['queued', 'running'], 'each has run once')
})

t.test('a machine that loses its connection keeps running and reports after it reconnects in time', async (t) => {
  const { first, proxy, startWorker, execute, begun, letGo } = await startFleet(t)
  const between = await proxy()
  const machine = await startWorker('w', `${between.port}`)
  const running = execute('running')
  await untilStage(running, ExecutionStage.EXECUTING)
  await until(() => begun().includes('running'))
  for (let cuts = 1; cuts <= 3; cuts++) {
    between.cut()
    await machine.hears(new RegExp(`(connected to the scheduler[^]*){${cuts + 1}}`))
  }
  letGo()
  t.match(responseOf(await lastOf(running)), {
    result: { exitCode: 0, executionMetadata: { worker: 'w' } },
    status: null,
  })
  t.same(begun(), ['running'], 'it has run once')
  t.notMatch(first.said(), /is lost|gone/)
})

t.test('a second signal ends a machine immediately, and another one runs its action again', async (t) => {
  const { startWorker, execute, begun, pids, letGo } = await startFleet(t)
  const ending = await startWorker('w')
  const running = execute('running')
  await untilStage(running, ExecutionStage.EXECUTING)
  await until(() => begun().includes('running'))
  ending.child.kill('SIGTERM')
  await ending.hears(/stopping/)
  ending.child.kill('SIGTERM')
  t.same(await ending.ended, { code: null, signal: 'SIGTERM' })
  const [pid] = pids()
  await until(() => !existsSync(`/proc/${pid}`))
  letGo()
  await startWorker('v')
  t.match(responseOf(await lastOf(running)), {
    result: { exitCode: 0, executionMetadata: { worker: 'v' } },
    status: null,
  })
  t.same(begun(), ['running', 'running'])
})
