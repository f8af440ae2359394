import { Client, credentials, Metadata, type ServiceError, type StatusObject } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { serviceDefinition } from '../../../src/proto/service-definition.js'
import { cases } from './cases.js'
import { testCompression } from './compression.js'
import type { Answered, CaseClient, CaseRequest, Fields, Sending } from './js-cases.js'
import { outcomeOf } from './js-cases.js'
import { TIMEOUT_MS } from './run-client.js'
import { serveTests, transports } from './serve-tests.js'
import { testService } from './test-service.js'

const GZIP = 2
const asItIs = (bytes: Buffer): Buffer => bytes

const metadataOf = (fields: Fields = {}): Metadata => {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(fields)) {
    metadata.set(name, typeof value === 'string' ? value : Buffer.from(value))
  }
  return metadata
}

const methodOf = (name: string) => {
  const { methods } = serviceDefinition(testService.name)
  const found = methods.find((method) => method.name === (name.startsWith('/') ? 'EmptyCall' : name))
  if (found === undefined) throw new Error(`no method ${name}`)
  return { ...found, path: name.startsWith('/') ? name : found.path }
}

/** The events at the end of both kinds of calls. */
interface Told {
  on(event: 'metadata', hear: (metadata: Metadata) => void): unknown
  on(event: 'status', hear: (status: StatusObject) => void): unknown
  on(event: 'error', hear: (error: ServiceError) => void): unknown
  cancel(): void
}

const answered = (call: Told, responses: unknown[], signal: AbortSignal | undefined): Promise<Answered> =>
  new Promise((resolve) => {
    let headers: Fields = {}
    signal?.addEventListener('abort', () => call.cancel())
    call.on('metadata', (metadata) => {
      headers = metadata.getMap()
    })
    call.on('error', () => {})
    call.on('status', ({ code, details, metadata }) => {
      resolve({ code, message: details, headers, trailers: metadata.getMap(), responses })
    })
  })

class GrpcJsClient implements CaseClient {
  readonly #client: Client
  readonly #address: string

  constructor(address: string, options = {}) {
    this.#address = address
    this.#client = new Client(address, credentials.createInsecure(), options)
  }

  get packing(): CaseClient {
    return new GrpcJsClient(this.#address, { 'grpc.default_compression_algorithm': GZIP })
  }

  unary(name: string, request: CaseRequest, { fields, timeoutMs, signal }: Sending = {}): Promise<Answered> {
    const { path, request: sent, response: received } = methodOf(name)
    const responses: unknown[] = []
    const call = this.#client.makeUnaryRequest(
      path,
      asItIs,
      (bytes: Buffer) => void responses.push(received.decode(bytes)),
      sent.encode(request),
      metadataOf(fields),
      deadlineOf(timeoutMs),
      () => {},
    )
    return answered(call, responses, signal)
  }

  async stream(
    name: string,
    requests: AsyncIterable<CaseRequest>,
    { fields, timeoutMs, signal }: Sending = {},
    onResponse: (response: unknown) => void = () => {},
  ): Promise<Answered> {
    const { path, request: sent, response: received } = methodOf(name)
    const responses: unknown[] = []
    const call = this.#client.makeBidiStreamRequest(
      path,
      (request: CaseRequest) => sent.encode(request),
      (bytes: Buffer) => received.decode(bytes),
      metadataOf(fields),
      deadlineOf(timeoutMs),
    )
    call.on('data', (response: unknown) => {
      responses.push(response)
      onResponse(response)
    })
    const answer = answered(call, responses, signal)
    const send = async (): Promise<void> => {
      for await (const request of requests) call.write(request)
      call.end()
    }
    void send()
    return answer
  }
}

const deadlineOf = (timeoutMs: number | undefined) =>
  timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs }

const run = async (t: Test, names: readonly string[], port: number): Promise<void> => {
  for (const name of names) t.equal(await outcomeOf(name, new GrpcJsClient(`127.0.0.1:${port}`)), undefined, name)
}

for (const transport of transports) {
  t.test(`the interoperability cases with grpc-js over ${transport}`, { timeout: TIMEOUT_MS }, async (t) => {
    await run(t, cases, await serveTests(t, transport))
  })
}

testCompression('grpc-js', { timeout: TIMEOUT_MS }, run)
