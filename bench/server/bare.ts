import { randomUUID } from 'node:crypto'
import type { RpcCall, Service, Unary } from '../../src/rpc/rpc.js'
import { built } from '../built.js'

// Bare handlers on remexec's own transport: they decode the request, answer something of the same shape, and keep nothing.
// The header `x-bench-shape` says which shape, where a server that keeps nothing could not know.

const { StatusError } = await built<typeof import('../../src/base/status-error.js')>('base/status-error.js')
const { codec } = await built<typeof import('../../src/proto/codec.js')>('proto/codec.js')
const { listen } = await built<typeof import('../../src/server/listener.js')>('server/listener.js')
const { send } = await built<typeof import('../../src/service/send.js')>('service/send.js')
const { prepareHeap } = await built<typeof import('../../src/process/v8-heap.js')>('process/v8-heap.js')

prepareHeap()

const REAPI = 'build.bazel.remote.execution.v2'
const chunk = Buffer.alloc(64 << 10, 7)

interface Digest {
  readonly hash: string
  readonly sizeBytes: number
}

const digestOf = (byte: number, sizeBytes: number): Digest => ({ hash: byte.toString(16).padStart(64, '0'), sizeBytes })
const shapeOf = ({ metadata }: RpcCall): string => String(metadata.get('x-bench-shape') ?? '')

const cas: Readonly<Record<string, Unary>> = {
  FindMissingBlobs: async ({ blobDigests }: { blobDigests: Digest[] }, call) => {
    const shape = shapeOf(call)
    if (shape === 'absent') return { missingBlobDigests: blobDigests }
    return { missingBlobDigests: shape === 'half' ? blobDigests.filter((_, index) => index % 2 === 1) : [] }
  },
  BatchUpdateBlobs: async ({ requests }: { requests: { digest: Digest }[] }) => ({
    responses: requests.map(({ digest }) => ({ digest, status: {} })),
  }),
  BatchReadBlobs: async ({ digests }: { digests: Digest[] }) => ({
    responses: digests.map((digest) => ({ digest, data: chunk.subarray(0, digest.sizeBytes), status: {} })),
  }),
}

const actionCache: Readonly<Record<string, Unary>> = {
  GetActionResult: async (request: { inlineStdout: boolean; inlineOutputFiles: string[] }, call) => {
    const shape = shapeOf(call)
    if (shape === 'absent') throw new StatusError('NOT_FOUND', 'no result for this action')
    const [, outputs = '1'] = /^outputs-(\d+)$/.exec(shape) ?? []
    const contents = request.inlineOutputFiles.length > 0 ? { contents: chunk.subarray(0, 1000) } : {}
    return {
      outputFiles: Array.from({ length: Number(outputs) }, (_, at) => ({
        ...{ path: at === 0 ? 'out/a' : `out/${at}`, digest: digestOf(1, 1000) },
        ...contents,
      })),
      stdoutDigest: digestOf(2, 1000),
      ...(request.inlineStdout ? { stdoutRaw: chunk.subarray(0, 1000) } : {}),
      executionMetadata: { worker: 'bench' },
    }
  },
  UpdateActionResult: async ({ actionResult }: { actionResult: object }) => actionResult,
}

const capabilities: Readonly<Record<string, Unary>> = {
  GetCapabilities: async () => ({
    cacheCapabilities: {
      digestFunctions: [1, 9],
      supportedCompressors: [1],
      supportedBatchUpdateCompressors: [1],
      actionCacheUpdateCapabilities: { updateEnabled: true },
      maxBatchTotalSizeBytes: 4 << 20,
    },
    lowApiVersion: { major: 2 },
    highApiVersion: { major: 2, minor: 3 },
  }),
}

const executeMetadata = codec(`${REAPI}.ExecuteOperationMetadata`)
const executeResponse = codec(`${REAPI}.ExecuteResponse`)
const TYPE_URL = `type.googleapis.com/${REAPI}`

const execution: Service = {
  name: `${REAPI}.Execution`,
  serverStreaming: {
    /** The stages that remexec reports too: EXECUTING without a cached result, and COMPLETED. */
    Execute: async ({ actionDigest }: { actionDigest: Digest }, call, responses) => {
      const cachedResult = shapeOf(call) === 'cached'
      const name = `operations/${randomUUID()}`
      const tell = (stage: 3 | 4, rest: object = {}): Promise<void> => {
        const value = executeMetadata.encode({ stage, actionDigest, digestFunction: 1 })
        return send(responses, { name, metadata: { typeUrl: `${TYPE_URL}.ExecuteOperationMetadata`, value }, ...rest })
      }
      if (!cachedResult) await tell(3)
      const outputFiles = cachedResult ? [{ path: 'out/a', digest: digestOf(1, 1000) }] : []
      const result = { outputFiles, executionMetadata: { worker: 'bench' } }
      const value = executeResponse.encode({ cachedResult, result })
      await tell(4, { done: true, response: { typeUrl: `${TYPE_URL}.ExecuteResponse`, value } })
    },
  },
}

const byteStream: Service = {
  name: 'google.bytestream.ByteStream',
  serverStreaming: {
    Read: async ({ resourceName }: { resourceName: string }, _, responses) => {
      for (let left = Number(resourceName.split('/').at(-1)); left > 0; left -= chunk.length) {
        await send(responses, { data: chunk.subarray(0, left) })
      }
    },
  },
  clientStreaming: {
    Write: async (requests) => {
      let committedSize = 0
      for (let next = await requests.next(); next !== undefined; next = await requests.next()) {
        committedSize += next.message.data.length
        next.release()
      }
      return { committedSize }
    },
  },
}

const listener = await listen({
  address: '127.0.0.1:0',
  services: [
    { name: `${REAPI}.ContentAddressableStorage`, unary: cas },
    { name: `${REAPI}.ActionCache`, unary: actionCache },
    { name: `${REAPI}.Capabilities`, unary: capabilities },
    execution,
    byteStream,
  ],
})
process.stderr.write(`serving grpc://${listener.address}\n`)
process.once('SIGTERM', () => void listener.close(0).then(() => process.exit(0)))
