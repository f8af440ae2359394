import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import { driveCalls } from '../calls.js'
import type { Case } from '../case.js'
import type { ServerProcess } from '../process.js'

const REAPI = 'build.bazel.remote.execution.v2'
const updateRequest = codec(`${REAPI}.BatchUpdateBlobsRequest`)
const executeRequest = codec(`${REAPI}.ExecuteRequest`)
const executeResponse = codec(`${REAPI}.ExecuteResponse`)
const operation = codec('google.longrunning.Operation')

const digestOf = (bytes: Uint8Array) => ({
  hash: createHash('sha256').update(bytes).digest('hex'),
  sizeBytes: bytes.length,
})

/** Actions that run `/bin/true`, each with a salt of its own, beside bare spawns of the same program. */
const trueActions = (count: number): Case => {
  const command = codec(`${REAPI}.Command`).encode({ arguments: ['/bin/true'] })
  const root = codec(`${REAPI}.Directory`).encode({})
  return {
    name: '/bin/true actions',
    unit: 'op',
    unitsPerRequest: 1,
    ours: async (server) => {
      const actions = Array.from({ length: count }, () =>
        codec(`${REAPI}.Action`).encode({
          commandDigest: digestOf(command),
          inputRootDigest: digestOf(root),
          salt: Buffer.from(randomUUID()),
        }),
      )
      await store(server, [command, root, ...actions])
      return driveCalls({
        address: server.address,
        path: `/${REAPI}.Execution/Execute`,
        requests: actions.map((action) => [executeRequest.encode({ actionDigest: digestOf(action) })]),
        concurrency: 16,
        check: checkOperation,
      })
    },
    limit: async () => {
      const startMs = performance.now()
      let left = count
      const lane = async (): Promise<void> => {
        while (left-- > 0) await spawned('/bin/true')
      }
      await Promise.all([lane(), lane()])
      return { seconds: (performance.now() - startMs) / 1000, requests: count }
    },
  }
}

const store = (server: ServerProcess, blobs: readonly Buffer[]) =>
  driveCalls({
    address: server.address,
    path: `/${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`,
    requests: [[updateRequest.encode({ requests: blobs.map((data) => ({ digest: digestOf(data), data })) })]],
    concurrency: 1,
  })

const checkOperation = (bytes: Buffer): void => {
  const { done, response } = operation.decode(bytes)
  if (!done) return
  if (response === null) throw new Error('a done operation without a response')
  const { status, result } = executeResponse.decode(response.value)
  if ((status?.code ?? 0) !== 0 || result?.exitCode !== 0) throw new Error(`the action failed: ${status?.message}`)
}

const spawned = (program: string): Promise<void> =>
  new Promise((resolve, reject) => {
    spawn(program, { stdio: 'ignore' })
      .once('error', reject)
      .once('exit', () => resolve())
  })

export const executionCases = ({ actions }: { readonly actions: number }): readonly Case[] => [trueActions(actions)]
