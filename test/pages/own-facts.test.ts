/** What a server knows of a build itself goes before what the client says. */
import t, { type Test } from 'tap'
import { timestampOf } from '../../src/proto/time.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { bazel } from '../builds/harness.js'
import { withHeaders } from '../security/server.js'
import { FakeWorker } from '../service/execution-harness.js'
import { Uploader } from './actions/fixture.js'
import { type PagesOptions, type PagesServer, startPages } from './harness.js'
import { RunningBuild } from './running-build.js'

const failedAction = (label: string, output: string, message = 'x failed') =>
  bazel({
    id: { actionCompleted: { label, primaryOutput: output } },
    action: { success: false, exitCode: 1, type: 'Genrule', failureDetail: { message } },
  })

const times = (fromMs: number) => {
  const at = (ms: number) => timestampOf(fromMs + ms)
  return {
    worker: 'w1',
    queuedTimestamp: at(0),
    workerStartTimestamp: at(100),
    inputFetchStartTimestamp: at(100),
    inputFetchCompletedTimestamp: at(150),
    executionStartTimestamp: at(150),
    executionCompletedTimestamp: at(2150),
    outputUploadStartTimestamp: at(2150),
    outputUploadCompletedTimestamp: at(2450),
  }
}

interface Answer {
  readonly failedActions: readonly {
    readonly label: string
    readonly exitCode?: number
    readonly exitSaidBy?: string
    readonly reason?: string
    readonly execution?: Record<string, unknown>
  }[]
  readonly cache?: object
  readonly executions: object
}

const answerOf = async (server: PagesServer, id: string, headers: Readonly<Record<string, string>> = {}) =>
  JSON.parse((await server.get(`/invocation/${id}.json`, headers)).text) as Answer

const start = async (t: Test, options: PagesOptions = {}) => {
  const server = await startPages(t, options)
  return { server, build: new RunningBuild(server, 'b-1') }
}

t.test('the exit code, the worker and the times of a failed action are those that the server saw', async (t) => {
  const { server, build } = await start(t)
  await build.publish(bazel({ started: { command: 'build' } }))
  const worker = await new FakeWorker(server.client, server.clock).hello({ maxInflightAttempts: 1 })
  for (const [name, exitCode] of [
    ['one.txt', 3],
    ['two.txt', 137],
  ] as const) {
    const { reader } = await build.execute({ name })
    worker.report(await worker.start(), {
      executeResponse: { result: { exitCode, executionMetadata: times(1_700_000_000_000) } },
    })
    await reader.until(({ done }) => done)
  }
  await build.publish(failedAction('//:t', 'bazel-out/bin/two.txt'))
  await build.publish(failedAction('//:t', 'bazel-out/bin/one.txt'))
  await build.publish(
    failedAction('//:local', 'bazel-out/bin/local.txt', 'Executing genrule failed: (Exit 9): bash failed'),
  )
  await build.end()
  const { failedActions, executions } = await answerOf(server, 'b-1')
  t.match(failedActions, [
    { label: '//:t', exitCode: 137, exitSaidBy: 'server', reason: /SIGKILL/ },
    {
      ...{ label: '//:t', exitCode: 3, exitSaidBy: 'server' },
      execution: { worker: 'w1', queueMs: 100, fetchMs: 50, runMs: 2000, uploadMs: 300, action: String },
    },
    { label: '//:local', exitCode: 9, exitSaidBy: 'client' },
  ])
  t.match(executions, { count: 2, failed: 2, runMs: 4000 })
  const { text } = await server.get('/invocation/b-1')
  t.match(text, /Exit code 137: ended by SIGKILL/)
  t.match(text, /Exit code 9.*as the client says/s)
})

t.test('an action that no worker could run says so, and not an exit code', async (t) => {
  const { server, build } = await start(t)
  await build.publish(bazel({ started: { command: 'build' } }))
  const worker = await new FakeWorker(server.client, server.clock).hello({ maxInflightAttempts: 1 })
  const { reader } = await build.execute({ name: 'late.txt' })
  worker.report(await worker.start(), {
    executeResponse: { status: { code: 4, message: 'the command ran longer than 5 s' }, result: { exitCode: 0 } },
  })
  await reader.until(({ done }) => done)
  await build.publish(failedAction('//:t', 'bazel-out/bin/late.txt'))
  await build.end()
  const { failedActions } = await answerOf(server, 'b-1')
  t.match(failedActions, [{ exitSaidBy: 'server', reason: 'timed out: the command ran longer than 5 s' }])
  t.equal(failedActions[0]?.exitCode, undefined)
})

t.test('hits and misses are those that the server counted, and stay so after a new start', async (t) => {
  const { server, build } = await start(t)
  await build.publish(bazel({ started: { command: 'build' } }))
  const uploader = new Uploader(server.client, 'main')
  const asked = { toolInvocationId: 'b-1', targetId: '//:t' }
  const digest = await uploader.action({ arguments: ['a'], outputPaths: ['a'] })
  t.notOk(await uploader.ask(digest, asked))
  const live = await answerOf(server, 'b-1')
  t.match(live.cache, { hits: 0, misses: 1, countedBy: 'server' }, 'while it runs')
  await uploader.write(digest, {}, asked)
  for (let count = 0; count < 3; count++) t.ok(await uploader.ask(digest, asked))
  const runnerCount = [{ name: 'remote cache hit', count: 77 }]
  await build.publish(bazel({ buildMetrics: { actionSummary: { runnerCount } } }))
  await build.publish(bazel({ finished: { exitCode: { code: 0, name: 'SUCCESS' } } }))
  await build.end()
  t.match((await answerOf(server, 'b-1')).cache, { hits: 3, misses: 1, countedBy: 'server' })
  const list = JSON.parse((await server.get('/builds.json')).text)
  t.match(list.builds, [{ id: 'b-1', cache: { hits: 3, misses: 1, countedBy: 'server' } }])
})

t.test('a caller of another instance that names the build adds nothing to it', async (t) => {
  const sha256 = (text: string) => Digest.of(Buffer.from(text), digestFunctions.SHA256).hash
  const names = ['ann', 'bob', 'worker']
  const security = {
    identity: { tokens: names.map((name) => ({ name, sha256: sha256(`token-of-${name}`) })) },
    access: [
      { names: ['ann'], may: ['read_ac', 'write_ac', 'read_cas', 'write_cas', 'execute'], instances: ['main'] },
      { names: ['bob'], may: ['read_ac', 'write_ac', 'read_cas', 'write_cas', 'execute'], instances: ['other'] },
      { names: ['worker'], may: ['work'] },
    ],
  }
  const server = await startPages(t, { security })
  const as = (name: string) => ({ authorization: `Bearer token-of-${name}` })
  const build = new RunningBuild(server, 'b-1', 'main', as('ann'))
  await build.publish(bazel({ started: { command: 'build' } }))
  const worker = await new FakeWorker(server.client, server.clock, withHeaders(as('worker'))).hello({
    maxInflightAttempts: 1,
  })
  for (const [name, instance] of [
    ['bob', 'other'],
    ['ann', 'main'],
  ] as const) {
    const { reader } = await build.execute({ name, instance, headers: as(name) })
    worker.report(await worker.start(), { executeResponse: { result: { exitCode: name === 'bob' ? 66 : 3 } } })
    await reader.until(({ done }) => done)
  }
  await build.publish(failedAction('//:t', 'bazel-out/bin/ann'))
  await build.end()
  const { failedActions, executions } = await answerOf(server, 'b-1', as('ann'))
  t.match(executions, { count: 1, failed: 1 })
  t.match(failedActions, [{ exitCode: 3 }])
  const seen = (await server.get('/invocation/b-1.json', as('bob'))).text
  t.match(JSON.parse(seen), { outcome: 'no events', instance: 'other' }, 'bob sees what he did himself')
  t.notMatch(seen, /ann|"exitCode"/)
  const { answer } = await server.get('/invocation/b-1.json?instance=main', as('bob'))
  t.equal(answer.status, 404)
  t.match(answer.headers.get('content-type'), 'application/json')
})

t.test('a step of the critical path has the times that its execution had here', async (t) => {
  const { server, build } = await start(t)
  await build.publish(bazel({ started: { command: 'build' } }))
  const worker = await new FakeWorker(server.client, server.clock).hello({ maxInflightAttempts: 1 })
  const { reader } = await build.execute({ name: 'slow.txt', target: '//:slow' })
  const attempt = await worker.start()
  const executionMetadata = times(server.clock.now())
  worker.report(attempt, { executeResponse: { result: { exitCode: 0, executionMetadata } } })
  await reader.until(({ done }) => done)
  const contents = Buffer.from(
    "Critical Path: 3.0s\n  2.60s, Remote (95.00% of the time): [queue: 4.00%, process: 80.00%] action 'Executing genrule //:slow'\n" +
      "  0.10s action 'Executing genrule //:slow'\n  0.30s action 'Writing file x'\n",
  )
  await build.publish(bazel({ buildToolLogs: { log: [{ name: 'critical path', contents }] } }))
  await build.end()
  const { criticalPath } = JSON.parse((await server.get('/invocation/b-1/timing.json')).text)
  t.match(criticalPath, [
    { what: 'Writing file x' },
    { what: 'Executing genrule //:slow', tookMs: 100 },
    { what: 'Executing genrule //:slow', execution: { target: '//:slow', fetchMs: 50, runMs: 2000, uploadMs: 300 } },
  ])
  t.equal(criticalPath[0].execution, undefined)
  t.equal(criticalPath[1].execution, undefined, 'it was longer here than that step')
  const page = (await server.get('/invocation/b-1/timing')).text
  const [, , , , row = ''] = page.slice(page.indexOf('<h2>Critical path')).split('<tr>')
  t.match(row, /<a href="[^"]+">.*Executing genrule.*<svg class="steps".*2(\.0)? s running/s)
})

t.test('a step that names a file is the execution of its folder that makes or names that file', async (t) => {
  const { server, build } = await start(t)
  await build.publish(bazel({ started: { command: 'build' } }))
  const worker = await new FakeWorker(server.client, server.clock).hello({ maxInflightAttempts: 1 })
  for (const name of ['other.o', 'text/count.o']) {
    const { reader } = await build.execute({ name, target: '//text:count', mnemonic: 'CppCompile' })
    const attempt = await worker.start()
    const executionMetadata = times(server.clock.now())
    worker.report(attempt, { executeResponse: { result: { exitCode: 0, executionMetadata } } })
    await reader.until(({ done }) => done)
  }
  const lines = ['Compiling text/count.o', 'Linking text/count.o', 'Compiling elsewhere/count.o', 'Compiling text/no.o']
  const contents = Buffer.from(`Critical Path: 9.0s\n${lines.map((line) => `  2.60s action '${line}'`).join('\n')}\n`)
  await build.publish(bazel({ buildToolLogs: { log: [{ name: 'critical path', contents }] } }))
  await build.end()
  const { criticalPath } = JSON.parse((await server.get('/invocation/b-1/timing.json')).text)
  const found = (criticalPath as { what: string; execution?: object }[]).filter((step) => step.execution !== undefined)
  t.same(
    found.map(({ what }) => what),
    ['Compiling text/count.o'],
    'a link is no compilation, and what no command names is nothing',
  )
})

t.test(
  'of a client that says no targets, a test is found by its environment and an action by its output',
  async (t) => {
    const { server, build } = await start(t)
    await build.publish(bazel({ started: { command: 'test' } }))
    const worker = await new FakeWorker(server.client, server.clock).hello({ maxInflightAttempts: 1 })
    const ran = async (name: string, exitCode: number, environment = {}) => {
      const { reader } = await build.execute({ name, target: '', mnemonic: '', environment })
      worker.report(await worker.start(), { executeResponse: { result: { exitCode } } })
      await reader.until(({ done }) => done)
    }
    await ran('test.xml', 7, { TEST_TARGET: '//:seven' })
    await ran('other.xml', 8, { TEST_TARGET: '//:eight' })
    await ran('missing.out', 0)
    await build.publish(failedAction('//:missing', 'bazel-out/bin/missing.out'))
    const id = { testResult: { label: '//:seven', run: 1, attempt: 1 } }
    await build.publish(bazel({ id, testResult: { status: 4, statusDetails: '' } }))
    await build.publish(bazel({ id: { testSummary: { label: '//:seven' } }, testSummary: { overallStatus: 4 } }))
    await build.end()
    const { failedActions, failedTests } = (await answerOf(server, 'b-1')) as Answer & {
      readonly failedTests: Answer['failedActions']
    }
    t.match(failedTests, [{ label: '//:seven', exitCode: 7, exitSaidBy: 'server' }])
    t.match(failedActions, [{ label: '//:missing', exitCode: 0, exitSaidBy: 'server', reason: /output/ }])
  },
)
