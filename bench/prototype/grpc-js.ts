import { randomUUID } from 'node:crypto'
import {
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
} from '@grpc/grpc-js'
import { codec } from '../../src/proto/codec.js'
import { serviceDefinition } from '../../src/proto/service-definition.js'

// Bare grpc-js handlers: they decode the request, answer something of the same shape, and keep nothing. The header
// `x-bench-shape` says which shape, where a server that keeps nothing could not know.

const REAPI = 'build.bazel.remote.execution.v2'
const NOT_FOUND = 5
const pass = (bytes: Buffer): Buffer => bytes
const server = new Server({ 'grpc.max_receive_message_length': 16 << 20, 'grpc.max_send_message_length': 16 << 20 })

interface Digest {
  readonly hash: string
  readonly sizeBytes: number
}

const definitionOf = (service: string, name: string) => {
  const method = serviceDefinition(service).methods.find((candidate) => candidate.name === name)
  if (method === undefined) throw new Error(`no method ${service}/${name}`)
  const { path, requestStream, responseStream } = method
  const wire = { requestSerialize: pass, requestDeserialize: pass, responseSerialize: pass, responseDeserialize: pass }
  return { method, entry: { path, requestStream, responseStream, ...wire } }
}

const chunk = Buffer.alloc(64 << 10, 7)
const digestOf = (byte: number, sizeBytes: number): Digest => ({ hash: byte.toString(16).padStart(64, '0'), sizeBytes })

type Answer = (request: unknown, shape: string) => object | undefined

/** `answer` gives undefined for NOT_FOUND. */
const unary = (service: string, answers: Readonly<Record<string, Answer>>): void => {
  const entries = Object.entries(answers).map(([name, answer]) => {
    const { method, entry } = definitionOf(service, name)
    const handler: handleUnaryCall<Buffer, Buffer> = (call, callback) => {
      const answered = answer(method.request.decode(call.request), String(call.metadata.get('x-bench-shape')[0] ?? ''))
      if (answered !== undefined) callback(null, method.response.encode(answered))
      else callback({ code: NOT_FOUND, details: 'no result for this action', metadata: new Metadata() })
    }
    return { name, entry, handler }
  })
  server.addService(
    Object.fromEntries(entries.map(({ name, entry }) => [name, entry])),
    Object.fromEntries(entries.map(({ name, handler }) => [name, handler])),
  )
}

unary(`${REAPI}.ContentAddressableStorage`, {
  FindMissingBlobs: (request, shape) => {
    const { blobDigests } = request as { blobDigests: Digest[] }
    if (shape === 'absent') return { missingBlobDigests: blobDigests }
    return { missingBlobDigests: shape === 'half' ? blobDigests.filter((_, index) => index % 2 === 1) : [] }
  },
  BatchUpdateBlobs: (request) => ({
    responses: (request as { requests: { digest: Digest }[] }).requests.map(({ digest }) => ({ digest, status: {} })),
  }),
  BatchReadBlobs: (request) => ({
    responses: (request as { digests: Digest[] }).digests.map((digest) => ({
      digest,
      data: chunk.subarray(0, digest.sizeBytes),
      status: {},
    })),
  }),
})

unary(`${REAPI}.ActionCache`, {
  GetActionResult: (request, shape) => {
    if (shape === 'absent') return undefined
    const { inlineStdout, inlineOutputFiles } = request as { inlineStdout: boolean; inlineOutputFiles: string[] }
    const contents = inlineOutputFiles.length > 0 ? { contents: chunk.subarray(0, 1000) } : {}
    return {
      outputFiles: [{ path: 'out/a', digest: digestOf(1, 1000), ...contents }],
      stdoutDigest: digestOf(2, 1000),
      ...(inlineStdout ? { stdoutRaw: chunk.subarray(0, 1000) } : {}),
      executionMetadata: { worker: 'bench' },
    }
  },
  UpdateActionResult: (request) => (request as { actionResult: object }).actionResult,
})

unary(`${REAPI}.Capabilities`, {
  GetCapabilities: () => ({
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
})

const executeMethod = definitionOf(`${REAPI}.Execution`, 'Execute')
const executeMetadata = codec(`${REAPI}.ExecuteOperationMetadata`)
const executeResponse = codec(`${REAPI}.ExecuteResponse`)
const TYPE_URL = `type.googleapis.com/${REAPI}`

/** The stages that remexec reports too: EXECUTING without a cached result, and COMPLETED. */
const execute: handleServerStreamingCall<Buffer, Buffer> = (call) => {
  const { actionDigest } = executeMethod.method.request.decode(call.request) as { actionDigest: Digest }
  const cachedResult = call.metadata.get('x-bench-shape')[0] === 'cached'
  const name = `operations/${randomUUID()}`
  const tell = (stage: 3 | 4, rest: object = {}): void => {
    const value = executeMetadata.encode({ stage, actionDigest, digestFunction: 1 })
    const metadata = { typeUrl: `${TYPE_URL}.ExecuteOperationMetadata`, value }
    call.write(executeMethod.method.response.encode({ name, metadata, ...rest }))
  }
  if (!cachedResult) tell(3)
  const outputFiles = cachedResult ? [{ path: 'out/a', digest: digestOf(1, 1000) }] : []
  const value = executeResponse.encode({
    cachedResult,
    result: { outputFiles, executionMetadata: { worker: 'bench' } },
  })
  tell(4, { done: true, response: { typeUrl: `${TYPE_URL}.ExecuteResponse`, value } })
  call.end()
}
server.addService({ Execute: executeMethod.entry }, { Execute: execute })

const readMethod = definitionOf('google.bytestream.ByteStream', 'Read')

const read: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
  call.once('data', (bytes: Buffer) => {
    const { resourceName } = readMethod.method.request.decode(bytes) as { resourceName: string }
    let left = Number(resourceName.split('/').at(-1))
    const pump = (): void => {
      while (left > 0) {
        const data = chunk.subarray(0, Math.min(left, chunk.length))
        left -= data.length
        if (!call.write(readMethod.method.response.encode({ data }))) {
          call.once('drain', pump)
          return
        }
      }
      call.end()
    }
    pump()
  })
}

const writeMethod = definitionOf('google.bytestream.ByteStream', 'Write')

const write: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
  let committedSize = 0
  call.on('data', (bytes: Buffer) => {
    committedSize += (writeMethod.method.request.decode(bytes) as { data: Buffer }).data.length
  })
  call.on('end', () => {
    call.write(writeMethod.method.response.encode({ committedSize }))
    call.end()
  })
}

const asBidi = { requestStream: true, responseStream: true }
server.addService(
  { Read: { ...readMethod.entry, ...asBidi }, Write: { ...writeMethod.entry, ...asBidi } },
  { Read: read, Write: write },
)

server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error
  process.stderr.write(`serving grpc://127.0.0.1:${port}\n`)
})
process.once('SIGTERM', () => server.forceShutdown())
