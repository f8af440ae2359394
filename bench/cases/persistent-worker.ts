import { randomBytes } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { digestOf, store } from '../content.js'
import { each } from '../load/each.js'
import { benchConfig } from '../server/config.js'
import { type ServerProcess, startRemexec } from '../server/process.js'

const REAPI = 'build.bazel.remote.execution.v2'
const executeRequest = codec(`${REAPI}.ExecuteRequest`)
const executeResponse = codec(`${REAPI}.ExecuteResponse`)
const operation = codec('google.longrunning.Operation')
const directory = codec(`${REAPI}.Directory`)
const action = codec(`${REAPI}.Action`)
const command = codec(`${REAPI}.Command`)

const START_MS = 300
const WORK_MS = 5
const ACTIONS = 200
/** All are alike. */
const COLD_ACTIONS = 40
/** As many as one worker runs at a time, and as many that wait there. */
const CONCURRENCY = 4

/** It computes, as tools do that start. Counted in time of the processor, so that other work on the machine does not matter. */
const TOOL = `
const { cpuUsage } = process
const compute = (ms) => { for (const since = cpuUsage(); cpuUsage(since).user < 1000 * ms; ); }
const { readFileSync, writeFileSync } = require('node:fs')
const work = ([out, text]) => { compute(${WORK_MS}); writeFileSync(out, text) }
compute(${START_MS})
if (process.argv.includes('--persistent_worker')) {
  require('node:readline').createInterface(process.stdin).on('line', (line) => {
    work(JSON.parse(line).arguments)
    process.stdout.write('{}\\n')
  })
} else work(readFileSync(process.argv[2].slice(1), 'utf8').trim().split('\\n'))
`

const MARK = { properties: [{ name: 'bazel_tool_input', value: '' }] }
const PROPERTIES = [
  { name: 'persistentWorkerKey', value: 'bench' },
  { name: 'persistentWorkerProtocol', value: 'json' },
]

/** Actions of one tool, each with inputs of its own. Stores what they need. */
const actions = async (server: ServerProcess, isPersistent: boolean, count: number) => {
  const tool = Buffer.from(TOOL)
  const line = command.encode({
    arguments: [process.execPath, 'tool.cjs', '@params'],
    outputPaths: ['out'],
    platform: { properties: isPersistent ? PROPERTIES : [] },
  })
  const blobs = [tool, line]
  const calls = Array.from({ length: count }, () => {
    const params = Buffer.from(`out\n${randomBytes(8).toString('hex')}\n`)
    const root = directory.encode({
      files: [
        { name: 'params', digest: digestOf(params) },
        { name: 'tool.cjs', digest: digestOf(tool), ...(isPersistent && { nodeProperties: MARK }) },
      ],
    })
    const one = action.encode({ commandDigest: digestOf(line), inputRootDigest: digestOf(root) })
    blobs.push(params, root, one)
    const message = executeRequest.encode({ instanceName: server.instanceName, actionDigest: digestOf(one) })
    return { path: `/${REAPI}.Execution/Execute`, messages: [message] }
  })
  await store(server, blobs)
  return calls
}

const check = (bytes: Buffer): void => {
  const { done, response } = operation.decode(bytes)
  if (!done || response === null) return
  const { status, result } = executeResponse.decode(response.value)
  if (result?.exitCode !== 0) throw new Error(`the action failed: ${status?.message ?? result?.exitCode}`)
}

const perSecond = async (server: ServerProcess, isPersistent: boolean, count: number): Promise<number> => {
  const calls = await actions(server, isPersistent, count)
  const sinceMs = performance.now()
  await each(server, calls, { concurrency: CONCURRENCY, check })
  return (1000 * count) / (performance.now() - sinceMs)
}

async function* observe({ cli, profileFolder, rounds, isQuick }: Builds): AsyncGenerator<Observation> {
  const warm: number[] = []
  const cold: number[] = []
  for (let round = 0; round < (isQuick ? 1 : rounds); round++) {
    // Each round starts its processes anew.
    const server = await startRemexec(benchConfig, { cli, profileFolder })
    try {
      cold.push(await perSecond(server, false, COLD_ACTIONS))
      warm.push(await perSecond(server, true, ACTIONS))
    } finally {
      await server.stop()
    }
  }
  const tool = `tool of ${START_MS} ms to start and ${WORK_MS} ms to work, ${ACTIONS} actions`
  yield { name: tool, unit: 'op/s', values: warm, beside: { name: 'started for each action', values: cold } }
}

/** What a tool that stays up between actions saves. */
export const persistentWorkerCases = (): readonly EventCase[] => [{ kind: 'event', name: 'persistent worker', observe }]
