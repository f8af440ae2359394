import { randomBytes } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import type { RateCase } from '../case.js'
import { digestOf, store } from '../content.js'
import { SPAWN_LANES, spawnLimit } from '../limits.js'
import { each } from '../load/each.js'
import type { Request } from '../load/request.js'
import { PLACES, withPlaces } from '../server/config.js'
import type { Server } from '../server/process.js'

const REAPI = 'build.bazel.remote.execution.v2'
const executeRequest = codec(`${REAPI}.ExecuteRequest`)
const executeResponse = codec(`${REAPI}.ExecuteResponse`)
const operation = codec('google.longrunning.Operation')
const command = codec(`${REAPI}.Command`).encode({ arguments: ['/bin/true'] })
const root = codec(`${REAPI}.Directory`).encode({})

/** An action that runs `/bin/true`; it is in the CAS when this resolves. */
export const trueAction = async (server: Server, salt: Buffer): Promise<Request> => {
  const action = actionOf(salt)
  await store(server, [command, root, action])
  return execute(server, action)
}

/** As many of them, no two alike. */
export const trueActions = async (server: Server, count: number): Promise<Request[]> => {
  const actions = Array.from({ length: count }, () => actionOf(randomBytes(16)))
  await store(server, [command, root, ...actions])
  return actions.map((action) => execute(server, action))
}

const actionOf = (salt: Buffer): Buffer =>
  codec(`${REAPI}.Action`).encode({ commandDigest: digestOf(command), inputRootDigest: digestOf(root), salt })

const execute = ({ instanceName }: Server, action: Buffer): Request => ({
  path: `/${REAPI}.Execution/Execute`,
  messages: [executeRequest.encode({ instanceName, actionDigest: digestOf(action) })],
})

export const checkOperation = (bytes: Buffer): void => {
  const { done, response } = operation.decode(bytes)
  if (!done) return
  if (response === null) throw new Error('a done operation without a response')
  const { status, result } = executeResponse.decode(response.value)
  if ((status?.code ?? 0) !== 0 || result?.exitCode !== 0) throw new Error(`the action failed: ${status?.message}`)
}

/** Everything an action takes beyond its command: lookup, queue, worker, work directory, upload of the result. */
const trueCase = (about: Pick<RateCase, 'name' | 'configure'>): RateCase => ({
  kind: 'rate',
  ...about,
  unit: 'op',
  unitsPerRequest: 1,
  requests: { least: 50, most: 2_000, warm: 3_000 },
  run: async (server, requests, ready) => {
    const calls = await trueActions(server, requests)
    await ready()
    return each(server, calls, { concurrency: SPAWN_LANES, check: checkOperation })
  },
  limits: [spawnLimit],
})

/** With as many places as the worker has by default, and with as many as actions are asked for at a time. */
export const trueCases = (): readonly RateCase[] => [
  trueCase({ name: '/bin/true actions' }),
  trueCase({ name: `/bin/true actions, ${PLACES} places`, configure: withPlaces }),
]
