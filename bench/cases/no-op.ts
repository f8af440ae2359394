import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import type { RateCase } from '../case.js'
import { digestOf, store } from '../content.js'
import { each } from '../load/each.js'
import { repeat } from '../load/h2load.js'
import { schedulingOnly } from '../server/config.js'
import { memoryPlace } from '../server/place.js'
import { startIdleWorker } from '../server/start-idle-worker.js'
import { checkOperation, trueAction, trueActions } from './true.js'

const REAPI = 'build.bazel.remote.execution.v2'
const executeRequest = codec(`${REAPI}.ExecuteRequest`)
const putRequest = codec(`${REAPI}.UpdateActionResultRequest`)

/**
 * The path of an action without the command: Execute, the scheduler, the worker API, and a worker that answers at once.
 */
export const noOp = (): RateCase => {
  const workers: ChildProcess[] = []
  const run: RateCase['run'] = async (server, requests, ready) => {
    const calls = await trueActions(server, requests)
    await ready()
    return each(server, calls, { concurrency: 64, check: checkOperation })
  }
  return {
    kind: 'rate',
    name: 'no-op actions',
    unit: 'op',
    unitsPerRequest: 1,
    requests: { least: 400, most: 10_000 },
    configure: schedulingOnly,
    // Actions are uploaded before each run: on a busy disk that would take longer than the runs.
    ...(memoryPlace === undefined ? {} : { place: memoryPlace }),
    setUp: async (server) => void workers.push(await startIdleWorker(server)),
    run,
    limits: [{ name: 'bare handler', usesBare: true, run }],
    tearDown: async () => {
      for (const worker of workers) worker.kill()
    },
  }
}

/** An Execute that finds its result in the action cache. */
const cached = (): RateCase => {
  const run: RateCase['run'] = async (server, requests, ready) => {
    const call = { ...(await trueAction(server, salt)), shape: 'cached' }
    await ready()
    return repeat(server, call, { requests, concurrency: 32 })
  }
  const salt = randomBytes(8)
  return {
    kind: 'rate',
    name: 'Execute with a cached result',
    unit: 'op',
    unitsPerRequest: 1,
    requests: { least: 400, most: 20_000 },
    setUp: async (server) => {
      const output = randomBytes(1000)
      await store(server, [output])
      const call = await trueAction(server, salt)
      const [message = Buffer.alloc(0)] = call.messages
      const { actionDigest } = executeRequest.decode(message)
      const actionResult = {
        outputFiles: [{ path: 'out/a', digest: digestOf(output) }],
        executionMetadata: { worker: 'bench' },
      }
      const put = putRequest.encode({ instanceName: server.instanceName, actionDigest, actionResult })
      await each(server, [{ path: `/${REAPI}.ActionCache/UpdateActionResult`, messages: [put] }], {
        concurrency: 1,
      })
      await each(server, [call], { concurrency: 1, check: checkOperation })
    },
    run,
    limits: [{ name: 'bare handler', usesBare: true, run }],
  }
}

export const noOpCases = (): readonly RateCase[] => [noOp(), cached()]
