/** Which process of a persistent worker made a result: from the worker to the page. */
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { loadLibc } from '../../../src/worker/command/libc.js'
import { serve } from '../../cli/program.js'
import { TestClient } from '../../server/client.js'
import { buildAction, EXECUTION, Reader, responseOf } from '../../service/execution-harness.js'
import { type Blob, blobOf, CAS, wire } from '../../service/harness.js'
import { textIn } from '../harness.js'
import { check } from '../schema.js'

const skip = loadLibc() === undefined && 'without koffi there are no persistent workers'
const TOOL = readFileSync(new URL('../../worker/persistent/tool.mjs', import.meta.url))
const MARK = { properties: [{ name: 'bazel_tool_input', value: '' }] }

const configuration = (data: string) => ({
  stores: [
    {
      name: 'CAS',
      fast_slow: {
        fast: { filesystem: { content_path: `${data}/cas/content`, temp_path: `${data}/cas/temp` } },
        slow: { noop: {} },
      },
    },
    { name: 'AC', memory: {} },
  ],
  schedulers: [{ name: 'MAIN', simple: {} }],
  workers: [
    {
      local: {
        ...{ name: 'w', worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' }, cas_fast_slow_store: 'CAS' },
        ...{ upload_action_result: { ac_store: 'AC' }, work_directory: `${data}/work`, platform_properties: {} },
        max_inflight_tasks: 1,
      },
    },
  ],
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ instance_name: 'main', cas_store: 'CAS' }],
        ac: [{ instance_name: 'main', ac_store: 'AC' }],
        execution: [{ instance_name: 'main', cas_store: 'CAS', scheduler: 'MAIN' }],
        pages: {},
      },
    },
  ],
})

t.test('the page of an action names the persistent worker process that made its result', { skip }, async (t) => {
  const data = t.testdir({})
  writeFileSync(`${data}/config.json`, JSON.stringify(configuration(data)))
  const program = serve(t, `${data}/config.json`, data)
  const [, address = ''] = await program.hears(/serving grpc:\/\/(\S+)/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const upload = (...blobs: readonly Blob[]) =>
    client.unary(`${CAS}/BatchUpdateBlobs`, {
      instanceName: 'main',
      requests: blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes })),
    }).response

  /** Runs the tool, and returns the text of the action's page and its JSON. */
  const run = async (text: string) => {
    const [tool, params] = [blobOf(TOOL), blobOf(Buffer.from(`say ${text}\n`))]
    const files = [
      { name: 'params.txt', digest: wire(params.digest) },
      { name: 'tool.mjs', digest: wire(tool.digest), nodeProperties: MARK },
    ]
    const platform = { properties: [{ name: 'persistentWorkerKey', value: 'key' }] }
    const command = { arguments: [process.execPath, 'tool.mjs', '@params.txt'] }
    const built = buildAction({ command, root: { files }, action: { platform } })
    await upload(tool, params, built.action, built.command, built.root)
    const asked = { instanceName: 'main', actionDigest: wire(built.digest) }
    const [last] = (await new Reader(client.serverStream(`${EXECUTION}/Execute`, asked)).rest()).slice(-1)
    t.match(last && responseOf(last).result, { exitCode: 0 })
    const { hash, sizeBytes } = built.digest
    const page = `http://${address}/main/blobs/sha256/action/${hash}-${sizeBytes}/`
    const json = await (await fetch(page, { headers: { accept: 'application/json' } })).json()
    return { text: textIn(await (await fetch(page)).text()), json }
  }
  const pages = [await run('one'), await run('two')]
  const said = pages.map(({ text }) => /request (\d+) of process (\S+)/.exec(text)?.slice(1) ?? [])
  t.same(
    said.map(([request]) => request),
    ['1', '2'],
  )
  const [[, first] = [], [, second] = []] = said
  t.ok(first)
  t.equal(first, second, 'both were requests to one process')
  for (const [at, { json }] of pages.entries()) {
    t.equal(check('action')(json), undefined, 'as its schema says')
    t.match(json, { execution: { persistentWorker: { process: first, request: at + 1 } } })
  }
})
