import { readFileSync } from 'node:fs'
import { createFileRegistry, type DescMethodStreaming, type DescMethodUnary, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { ConnectError, decodeBinaryHeader, encodeBinaryHeader, type Transport } from '@connectrpc/connect'
import type { Compression } from '@connectrpc/connect/protocol'
import { compressionGzip, createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node'
import protobuf from 'protobufjs'
import descriptor from 'protobufjs/ext/descriptor.js'
import t, { type Test } from 'tap'
import { cases } from './cases.js'
import { testCompression } from './compression.js'
import { type Answered, type CaseClient, type CaseRequest, type Fields, outcomeOf, type Sending } from './js-cases.js'
import { TIMEOUT_MS } from './run-client.js'
import { serveTests, transports } from './serve-tests.js'

const definition = readFileSync(new URL('../../../fixtures/test/interop.proto', import.meta.url), 'utf8')
const { root } = protobuf.parse(definition)
root.resolveAll()
const fileSet = root.toDescriptor('proto3')
// protobufjs names the types of fields relative to their package, which other libraries do not resolve.
for (const field of fileSet.file.flatMap(({ messageType = [] }) => messageType).flatMap(({ field }) => field ?? [])) {
  if (field.typeName) field.typeName = `.grpc.testing.${field.typeName}`
}
const files = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, descriptor.FileDescriptorSet.encode(fileSet).finish()),
)
const service = files.getService('grpc.testing.TestService')
if (service === undefined) throw new Error('fixtures/test/interop.proto has no TestService')

type AnyMethod = DescMethodUnary & DescMethodStreaming

/** A method that no service has is called like EmptyCall. */
const methodOf = (name: string): AnyMethod => {
  const [, typeName, own] = /^\/(.+)\/(.+)$/.exec(name) ?? []
  const found = service.methods.find((method) => method.name === (own === undefined ? name : 'EmptyCall'))
  if (found === undefined) throw new Error(`no method ${name}`)
  const method = typeName === undefined ? found : { ...found, name: own, parent: { ...service, typeName } }
  return method as AnyMethod
}

const headersOf = (fields: Fields = {}): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(fields)) {
    headers.set(name, typeof value === 'string' ? value : encodeBinaryHeader(value))
  }
  return headers
}

const fieldsOf = (headers: Headers): Fields =>
  Object.fromEntries(
    [...headers].map(([name, value]) => [name, name.endsWith('-bin') ? decodeBinaryHeader(value) : value]),
  )

/** connect has the metadata of a failure in one place: trailers and headers together. */
const failed = (thrown: unknown): Answered => {
  const { code, rawMessage: message, metadata } = ConnectError.from(thrown)
  const fields = fieldsOf(metadata)
  return { code, message, headers: fields, trailers: fields, responses: [] }
}

class ConnectClient implements CaseClient {
  readonly #transport: Transport
  readonly #url: string
  readonly #sessions: Http2SessionManager

  constructor(url: string, sessions: Http2SessionManager, sendCompression?: Compression) {
    this.#url = url
    this.#sessions = sessions
    const packing = sendCompression === undefined ? {} : { sendCompression, compressMinBytes: 0 }
    this.#transport = createGrpcTransport({ baseUrl: url, sessionManager: sessions, ...packing })
  }

  get packing(): CaseClient {
    return new ConnectClient(this.#url, this.#sessions, compressionGzip)
  }

  async unary(name: string, request: CaseRequest, { fields, timeoutMs, signal }: Sending = {}): Promise<Answered> {
    try {
      const headers = headersOf(fields)
      const { header, trailer, message } = await this.#transport.unary(
        methodOf(name),
        signal,
        timeoutMs,
        headers,
        request,
      )
      return { code: 0, message: '', headers: fieldsOf(header), trailers: fieldsOf(trailer), responses: [message] }
    } catch (error) {
      return failed(error)
    }
  }

  async stream(
    name: string,
    requests: AsyncIterable<CaseRequest>,
    { fields, timeoutMs, signal }: Sending = {},
    onResponse: (response: unknown) => void = () => {},
  ): Promise<Answered> {
    try {
      const headers = headersOf(fields)
      const answer = await this.#transport.stream(methodOf(name), signal, timeoutMs, headers, requests)
      const responses: unknown[] = []
      for await (const response of answer.message) {
        responses.push(response)
        onResponse(response)
      }
      const { header, trailer } = answer
      return { code: 0, message: '', headers: fieldsOf(header), trailers: fieldsOf(trailer), responses }
    } catch (error) {
      return failed(error)
    }
  }
}

const run = async (t: Test, names: readonly string[], port: number): Promise<void> => {
  const url = `http://127.0.0.1:${port}`
  const sessions = new Http2SessionManager(url)
  t.teardown(() => sessions.abort())
  for (const name of names) t.equal(await outcomeOf(name, new ConnectClient(url, sessions)), undefined, name)
}

for (const transport of transports) {
  t.test(`the interoperability cases with connect over ${transport}`, { timeout: TIMEOUT_MS }, async (t) => {
    await run(t, cases, await serveTests(t, transport))
  })
}

testCompression('connect', { timeout: TIMEOUT_MS }, run)
