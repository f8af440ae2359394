import { once } from 'node:events'
import { Metadata } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import descriptor from 'protobufjs/ext/descriptor.js'
import t, { type Test } from 'tap'
import { fileDescriptors } from '../../src/proto/descriptors.js'
import { root } from '../../src/proto/root.js'
import type { Service } from '../../src/rpc/rpc.js'
import { listen } from '../../src/server/listener.js'
import { collect, TestClient } from './client.js'

const EXECUTION = 'build.bazel.remote.execution.v2.Execution'
const CAPABILITIES = 'build.bazel.remote.execution.v2.Capabilities'
const services: Service[] = [
  { name: EXECUTION, serverStreaming: { Execute: async () => {} } },
  { name: CAPABILITIES, unary: { GetCapabilities: async () => ({}) } },
]

const serving = async (t: Test) => {
  const listener = await listen({ address: '127.0.0.1:0', services })
  const client = new TestClient(listener.address)
  t.teardown(async () => {
    client.close()
    await listener.close(0)
  })
  return { listener, client }
}

const SERVING = { status: 1 }
const NOT_SERVING = { status: 2 }
const SERVICE_UNKNOWN = { status: 3 }

t.test('health: check, list and watch', async (t) => {
  const { listener, client } = await serving(t)
  const check = (service: string) => client.unary('grpc.health.v1.Health/Check', { service }).response
  t.match(await check(''), SERVING)
  t.match(await check(EXECUTION), SERVING)
  await t.rejects(check('nope'), { code: 5 })

  const whole = client.serverStream('grpc.health.v1.Health/Watch', {})
  const unknown = client.serverStream('grpc.health.v1.Health/Watch', { service: 'nope' })
  for (const stream of [whole, unknown]) stream.on('error', () => {})
  const [[first], [never]] = await Promise.all([once(whole, 'data'), once(unknown, 'data')])
  t.match(first, SERVING)
  t.match(never, SERVICE_UNKNOWN)
  listener.setServing(false)
  t.match(await once(whole, 'data'), [NOT_SERVING])
  t.match(await check(EXECUTION), NOT_SERVING)
  const { statuses } = await client.unary('grpc.health.v1.Health/List', {}).response
  t.match(statuses, { '': NOT_SERVING, [EXECUTION]: NOT_SERVING, [CAPABILITIES]: NOT_SERVING })
  listener.setServing(true)
  t.match(await once(whole, 'data'), [SERVING])
  whole.cancel()
  unknown.cancel()
})

t.test('a Watch is informed that the server stops, and does not delay the stop', async (t) => {
  const { listener, client } = await serving(t)
  const watch = client.serverStream('grpc.health.v1.Health/Watch', { service: EXECUTION })
  const unknown = client.serverStream('grpc.health.v1.Health/Watch', { service: 'nope' })
  const heard: unknown[] = []
  watch.on('data', (message) => heard.push(message))
  const ends = [watch, unknown].map(async (stream) => (await once(stream, 'error'))[0])
  await Promise.all([once(watch, 'data'), once(unknown, 'data')])
  await listener.close(120_000)
  for (const end of ends) t.match(await end, { code: 14 })
  t.match(heard, [SERVING, NOT_SERVING])
})

for (const version of ['v1', 'v1alpha']) {
  t.test(`reflection ${version}`, async (t) => {
    const { client } = await serving(t)
    const ask = async (...requests: object[]) => {
      const stream = client.bidi(`grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`)
      for (const request of requests) stream.write(request)
      stream.end()
      return collect(stream)
    }
    const filesOf = async (request: object) => {
      const { messages } = await ask(request)
      const encoded: Buffer[] = messages[0]?.fileDescriptorResponse?.fileDescriptorProto ?? []
      return encoded.map((bytes) => descriptor.FileDescriptorProto.decode(bytes) as descriptor.IFileDescriptorProto)
    }

    t.test('lists the services', async (t) => {
      const { messages } = await ask({ listServices: '*' })
      const names = messages[0].listServicesResponse.service.map(({ name }: { name: string }) => name)
      const own = [
        'grpc.health.v1.Health',
        'grpc.reflection.v1.ServerReflection',
        'grpc.reflection.v1alpha.ServerReflection',
      ]
      t.same(names.sort(), [CAPABILITIES, EXECUTION, ...own])
    })

    t.test('returns the file of a symbol and its imports, by symbol, method or name', async (t) => {
      const byName = 'build/bazel/remote/execution/v2/remote_execution.proto'
      for (const request of [
        { fileContainingSymbol: EXECUTION },
        { fileContainingSymbol: `${EXECUTION}.Execute` },
        { fileContainingSymbol: 'build.bazel.remote.execution.v2.Digest' },
        { fileByFilename: byName },
      ]) {
        const files = await filesOf(request)
        t.equal(files[0]?.name, byName, JSON.stringify(request))
        const names = files.map(({ name }) => name)
        const imported = files.flatMap(({ dependency }) => dependency ?? [])
        t.same(
          imported.filter((name) => !names.includes(name)),
          [],
          'nothing that is imported is missing',
        )
        t.ok(imported.includes('google/longrunning/operations.proto'))
      }
      for (const symbol of [
        'grpc.health.v1.Health',
        `grpc.reflection.${version}.ServerReflection`,
        'google.protobuf.Any',
      ]) {
        t.ok((await filesOf({ fileContainingSymbol: symbol })).length > 0, symbol)
      }
    })

    t.test('answers in order, and unknown names with NOT_FOUND inside the stream', async (t) => {
      const { messages, status } = await ask(
        { host: 'a', fileContainingSymbol: 'no.such.Symbol' },
        { host: 'b', listServices: '' },
        { host: 'c', fileByFilename: 'no/such.proto' },
        { host: 'd', allExtensionNumbersOfType: 'build.bazel.remote.execution.v2.Digest' },
        { host: 'e' },
        { host: 'f', fileContainingExtension: { containingType: 'build.bazel.remote.execution.v2.Digest' } },
      )
      t.equal(status, undefined)
      t.match(messages, [
        { validHost: 'a', messageResponse: 'errorResponse', errorResponse: { errorCode: 5 } },
        { validHost: 'b', messageResponse: 'listServicesResponse' },
        { validHost: 'c', errorResponse: { errorCode: 5 } },
        { validHost: 'd', errorResponse: { errorCode: 5 } },
        { validHost: 'e', errorResponse: { errorCode: 12 } },
        { validHost: 'f', errorResponse: { errorCode: 5 } },
      ])
    })

    t.test('an invalid request ends the call immediately, and earlier requests are answered', async (t) => {
      const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`
      const asItIs = (bytes: Buffer): Buffer => bytes
      for (const hex of ['22617a656c2e', 'ff', '0a', '3a', '2a02', '0affffffff0f', '00', '0b']) {
        const stream = client.client.makeBidiStreamRequest(path, asItIs, asItIs, new Metadata(), {})
        stream.write(Buffer.from('3a012a', 'hex'))
        t.ok((await once(stream, 'data'))[0].length > 0)
        stream.write(Buffer.from(hex, 'hex'))
        // Never half-closed, because the answer must not wait for that.
        t.match(await once(stream, 'error'), [{ code: 3, details: /not a valid grpc\.reflection/ }], hex)
      }
    })

    t.test('the descriptors describe the protocol of the server', async (t) => {
      const file = await filesOf({ fileContainingSymbol: EXECUTION })
      const described = protobuf.Root.fromDescriptor({ file })
      described.resolveAll()
      for (const name of ['ActionResult', 'Command', 'ExecuteResponse', 'CacheCapabilities', 'Directory']) {
        const fields = (of: protobuf.Root) => {
          const type = of.lookupType(`build.bazel.remote.execution.v2.${name}`)
          return type.fieldsArray.map((field) => {
            field.resolve()
            return [
              field.protoName ?? field.name,
              field.id,
              field.resolvedType?.fullName ?? field.type,
              field.repeated,
              field.map,
            ]
          })
        }
        t.same(fields(described), fields(root as protobuf.Root), name)
      }
    })
  })
}

t.test('descriptors are the same as from protoc: absolute names, map entries, JSON names', async (t) => {
  const { client } = await serving(t)
  const stream = client.bidi('grpc.reflection.v1.ServerReflection/ServerReflectionInfo')
  stream.write({ fileByFilename: 'build/bazel/remote/execution/v2/remote_execution.proto' })
  stream.end()
  const { messages } = await collect(stream)
  const [bytes] = messages[0].fileDescriptorResponse.fileDescriptorProto
  const file = descriptor.FileDescriptorProto.decode(bytes) as descriptor.IFileDescriptorProto
  t.equal(file.syntax, 'proto3')
  const response = file.messageType?.find(({ name }) => name === 'ExecuteResponse')
  const logs = response?.field?.find(({ name }) => name === 'server_logs')
  t.match(logs, {
    typeName: '.build.bazel.remote.execution.v2.ExecuteResponse.ServerLogsEntry',
    jsonName: 'serverLogs',
  })
  t.match(response?.nestedType, [{ name: 'ServerLogsEntry', options: { mapEntry: true } }])
  const action = file.messageType?.find(({ name }) => name === 'Action')
  t.match(action?.reservedRange, [
    { start: 3, end: 6 },
    { start: 8, end: 9 },
  ])
})

t.test('no file has an extension, for which reflection has no index', async (t) => {
  const extended = fileDescriptors().filter((bytes) => {
    const file = descriptor.FileDescriptorProto.decode(bytes) as descriptor.IFileDescriptorProto
    const messages = (of: readonly descriptor.IDescriptorProto[]): descriptor.IDescriptorProto[] =>
      of.flatMap((message) => [message, ...messages(message.nestedType ?? [])])
    return [file, ...messages(file.messageType ?? [])].some(({ extension }) => (extension ?? []).length > 0)
  })
  t.same(extended, [])
})
