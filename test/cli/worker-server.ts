/** A server whose worker is a process of its own. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { codec } from '../../src/proto/codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { TestClient } from '../server/client.js'
import { found } from '../until.js'
import { type Program, serve } from './program.js'

export const { SHA256 } = digestFunctions
export const REAPI = 'build.bazel.remote.execution.v2'
const commandCodec = codec(`${REAPI}.Command`)
const actionCodec = codec(`${REAPI}.Action`)
const directoryCodec = codec(`${REAPI}.Directory`)
const responseCodec = codec(`${REAPI}.ExecuteResponse`)

export const config = `{
  stores: {
    CAS: { fast_slow: {
      fast: { filesystem: { content_path: '$REMEXEC_DATA/c', temp_path: '$REMEXEC_DATA/t', eviction_policy: { max_bytes: '1gb' } } },
      slow: { noop: {} },
    } },
    AC: { memory: { eviction_policy: { max_bytes: '10mb' } } },
    HISTORY: { memory: { eviction_policy: { max_bytes: '10mb' } } },
  },
  schedulers: { S: { simple: {} } },
  workers: [{ local: {
    worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' }, cas_fast_slow_store: 'CAS', work_directory: '$REMEXEC_DATA/w',
    upload_action_result: {
      ac_store: 'AC', historical_results_store: 'HISTORY', upload_historical_results_strategy: 'everything',
      success_message_template: 'succeeded: {historical_results_hash}/{historical_results_size}',
      failure_message_template: 'failed: {historical_results_hash}/{historical_results_size} of {action_digest_hash}',
    },
  } }],
  servers: [{ name: 'all', listener: { http: { socket_address: '127.0.0.1:0' } }, services: {
    cas: [{ cas_store: 'CAS' }, { instance_name: 'history', cas_store: 'HISTORY' }], ac: [{ ac_store: 'AC' }], execution: [{ cas_store: 'CAS', scheduler: 'S' }],
  } }],
}`

export interface Running {
  readonly server: Program
  readonly client: TestClient
  readonly data: string
  /** The process that the server started for its worker. */
  workerPid(): Promise<number>
}

export const start = async (t: Test, text = config): Promise<Running> => {
  const data = t.testdir({ 'c.json5': text, data: {} })
  const server = serve(t, `${data}/c.json5`, `${data}/data`)
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+) server=all/)
  await server.hears(/connected to the scheduler/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const workerPid = () =>
    found(() => childrenOf(server.child.pid ?? 0).find((pid) => commandOf(pid).includes('worker-process')))
  return { server, client, data: `${data}/data`, workerPid }
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  )

interface Work {
  readonly script: string
  readonly inputs?: Readonly<Record<string, Buffer>>
  readonly outputs?: readonly string[]
  /** Platform properties. */
  readonly properties?: Readonly<Record<string, string>>
}

/** Uploads an action and returns its digest, for a message. */
export const upload = async ({ client }: Running, { script, inputs = {}, outputs = [], properties = {} }: Work) => {
  const command = commandCodec.encode({
    arguments: ['/bin/sh', '-c', script],
    environmentVariables: [{ name: 'PATH', value: process.env['PATH'] ?? '' }],
    outputPaths: [...outputs],
  })
  const files = Object.entries(inputs).map(([name, bytes]) => ({ name, digest: Digest.of(bytes, SHA256).toMessage() }))
  const root = directoryCodec.encode({ files })
  const action = actionCodec.encode({
    commandDigest: Digest.of(command, SHA256).toMessage(),
    inputRootDigest: Digest.of(root, SHA256).toMessage(),
    platform: { properties: Object.entries(properties).map(([name, value]) => ({ name, value })) },
  })
  const requests = [...Object.values(inputs), command, root, action].map((data) => ({
    digest: Digest.of(data, SHA256).toMessage(),
    data,
  }))
  for (const request of requests) {
    await client.unary(`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`, { requests: [request] }).response
  }
  return Digest.of(action, SHA256).toMessage()
}

/** Uploads an action, runs it and returns its ExecuteResponse. */
export const execute = async (running: Running, work: Work) => {
  const { client } = running
  let last: { readonly response?: { readonly value: Buffer } } = {}
  const actionDigest = await upload(running, work)
  for await (const operation of client.serverStream(`${REAPI}.Execution/Execute`, { actionDigest })) last = operation
  return responseCodec.decode(last.response?.value ?? Buffer.alloc(0))
}
