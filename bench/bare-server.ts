import { type handleBidiStreamingCall, type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js'
import { serviceDefinition } from '../src/proto/service-definition.js'

// Bare grpc-js handlers: they decode the request, answer something of the same shape, and keep nothing.

const REAPI = 'build.bazel.remote.execution.v2'
const pass = (bytes: Buffer): Buffer => bytes
const server = new Server({ 'grpc.max_receive_message_length': 16 << 20, 'grpc.max_send_message_length': 16 << 20 })

const definitionOf = (service: string, name: string) => {
  const method = serviceDefinition(service).methods.find((candidate) => candidate.name === name)
  if (method === undefined) throw new Error(`no method ${service}/${name}`)
  const { path, requestStream, responseStream } = method
  const wire = { requestSerialize: pass, requestDeserialize: pass, responseSerialize: pass, responseDeserialize: pass }
  return { method, entry: { path, requestStream, responseStream, ...wire } }
}

const digestOf = (byte: number, sizeBytes: number) => ({ hash: byte.toString(16).padStart(64, '0'), sizeBytes })

const unary = (service: string, name: string, answer: (request: unknown) => object): void => {
  const { method, entry } = definitionOf(service, name)
  const handler: handleUnaryCall<Buffer, Buffer> = (call, callback) =>
    callback(null, method.response.encode(answer(method.request.decode(call.request))))
  server.addService({ [name]: entry }, { [name]: handler })
}

unary(`${REAPI}.ContentAddressableStorage`, 'FindMissingBlobs', () => ({}))
unary(`${REAPI}.ActionCache`, 'GetActionResult', () => ({
  outputFiles: [{ path: 'out/a', digest: digestOf(1, 10) }],
  stdoutDigest: digestOf(2, 10),
  executionMetadata: { worker: 'bench' },
}))
unary(`${REAPI}.ContentAddressableStorage`, 'BatchUpdateBlobs', (request) => ({
  responses: (request as { requests: { digest: object }[] }).requests.map(({ digest }) => ({ digest, status: {} })),
}))

const readMethod = definitionOf('google.bytestream.ByteStream', 'Read')
const chunk = Buffer.alloc(64 << 10, 7)

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
