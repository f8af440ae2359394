import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { codec } from '../../../src/proto/codec.js'
import { batchUpdate, digestOf } from '../../content.js'
import type { Request } from '../../load/request.js'
import type { Act } from '../act.js'
import { Caller, cancel, firstOf } from '../caller.js'

const REAPI = 'build.bazel.remote.execution.v2'
const executeRequest = codec(`${REAPI}.ExecuteRequest`)
const executeResponse = codec(`${REAPI}.ExecuteResponse`)
const operation = codec('google.longrunning.Operation')
const commandCodec = codec(`${REAPI}.Command`)
const actionCodec = codec(`${REAPI}.Action`)
const root = codec(`${REAPI}.Directory`).encode({})
const server = { instanceName: '' }

/** An action that no other one is equal to, with everything it needs in the CAS. */
const execute = async (caller: Caller, script: string, outputPaths: string[] = []): Promise<Request> => {
  const command = commandCodec.encode({
    arguments: ['/bin/sh', '-c', script],
    environmentVariables: [{ name: 'PATH', value: '/usr/bin:/bin' }],
    outputPaths,
  })
  const action = actionCodec.encode({
    commandDigest: digestOf(command),
    inputRootDigest: digestOf(root),
    salt: randomBytes(16),
  })
  await caller.call(batchUpdate(server, [root, command, action]))
  return { path: `/${REAPI}.Execution/Execute`, messages: [executeRequest.encode({ actionDigest: digestOf(action) })] }
}

/** Throws if the last message is not of an action that ended with this exit code. */
const checkEnded = (messages: readonly Buffer[], exitCode: number): void => {
  const { done, response } = operation.decode(messages.at(-1) ?? Buffer.alloc(0))
  if (!done || response === null) throw new Error('the stream ended before the action')
  const { status, result } = executeResponse.decode(response.value)
  if (result?.exitCode !== exitCode)
    throw new Error(`exit code ${result?.exitCode}, expected ${exitCode}; status ${status?.code}: ${status?.message}`)
}

const STALL_MS = [100, 3000] as const
/** Longer than any client of these waits. */
const LONG = 'sleep 20'

const runs = (name: string, clients: number, script: string, exitCode: number, outputPaths: string[]): Act => ({
  name,
  clients,
  perform: async (caller) => {
    checkEnded(await caller.call(await execute(caller, script, outputPaths)), exitCode)
  },
})

/** Resolves once the server's worker has run an action, so that its connection is there. */
export const whenWorkerRuns = async (port: number): Promise<void> => {
  const caller = await Caller.open(port)
  await caller.call(await execute(caller, 'true'))
  caller.close()
}

/** Actions on the server's own worker. */
export const actionActs: readonly Act[] = [
  runs('action', 2, 'head -c 300000 /dev/urandom > out; mkdir -p d/e; echo text > d/e/f', 0, ['out', 'd']),
  runs('action that fails', 1, 'echo no >&2; exit 3', 3, []),
  runs('action with processes left behind', 1, 'sleep 20 & exit 0', 0, []),
  {
    name: 'action that is cancelled',
    clients: 2,
    perform: async (caller) => {
      const stream = caller.send(await execute(caller, LONG))
      await firstOf(stream, 'readable', 'close')
      await setTimeout(randomInt(...STALL_MS))
      cancel(stream)
    },
  },
  {
    name: 'action whose client is cut off',
    clients: 1,
    isCutting: true,
    perform: async (caller) => {
      caller.send(await execute(caller, LONG))
      await setTimeout(randomInt(...STALL_MS))
      caller.cut()
    },
  },
]
