import fc from 'fast-check'
import protobuf from 'protobufjs/light.js'
import t from 'tap'
import { isStatus, StatusError } from '../../src/base/status-error.js'
import { holds, pack, unpack } from '../../src/proto/any.js'
import { codec, codecByName } from '../../src/proto/codec.js'
import { badRequest, errorOf, preconditionFailure, retryInfo, statusOf } from '../../src/proto/error-details.js'
import { root } from '../../src/proto/root.js'
import { serviceDefinition } from '../../src/proto/service-definition.js'
import { durationOf, timestampOf, toMs } from '../../src/proto/time.js'

const digest = codec('build.bazel.remote.execution.v2.Digest')
const operation = codec('google.longrunning.Operation')
const directory = codec('build.bazel.remote.execution.v2.Directory')
const hex = (bytes: Buffer): string => bytes.toString('hex')

t.test('64-bit integers are numbers', async (t) => {
  for (const sizeBytes of [0, 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, -1, -(2 ** 40)]) {
    t.equal(digest.decode(digest.encode({ sizeBytes })).sizeBytes, sizeBytes)
  }
  t.equal(
    codec('build.bazel.remote.execution.v2.FastCdc2020Params').decode(Buffer.from('0880808080808001', 'hex'))
      .avgChunkSizeBytes,
    2 ** 42,
  )
})

t.test('unset fields decode to null, [], {} and zeros', async (t) => {
  const nothing = new Uint8Array()
  const action = codec('build.bazel.remote.execution.v2.Action').decode(nothing)
  t.equal(action.timeout, null)
  t.ok(Buffer.isBuffer(action.salt) && action.salt.length === 0)
  t.equal(action.doNotCache, false)
  t.same(codec('build.bazel.remote.execution.v2.Tree').decode(nothing).children, [])
  t.same(codec('build.bazel.remote.execution.v2.ExecuteResponse').decode(nothing).serverLogs, {})
  t.equal(codec('google.rpc.QuotaFailure.Violation').decode(nothing).futureQuotaValue, null)
  t.equal(operation.decode(nothing).result, undefined)
})

t.test('bytes decode to Buffers that share memory, from a plain Uint8Array too', async (t) => {
  const response = codec('google.bytestream.ReadResponse')
  const encoded = response.encode({ data: Uint8Array.of(1, 2, 3) })
  const { data } = response.decode(new Uint8Array(encoded))
  t.ok(Buffer.isBuffer(data))
  t.same([...data], [1, 2, 3])
  t.equal(response.decode(encoded).data.buffer, encoded.buffer)
})

t.test('encoding is canonical: tag order, no defaults, no unknown properties', async (t) => {
  const sizeFirst = { sizeBytes: 3, hash: 'ab' }
  t.equal(hex(digest.encode(sizeFirst)), '0a0261621003')
  t.equal(digest.encode({ hash: '', sizeBytes: 0 }).length, 0)
  const node = { name: 'a', digest: {}, isExecutable: false, nodeProperties: null }
  t.equal(hex(directory.encode({ files: [node], directories: [], symlinks: [] })), '0a050a01611200')
  const withUnknown = Buffer.concat([digest.encode(sizeFirst), Buffer.from('9a06020801', 'hex')])
  t.equal(hex(digest.encode(digest.decode(withUnknown))), '0a0261621003')
  t.equal(
    hex(codec('google.rpc.QuotaFailure.Violation').encode({ futureQuotaValue: 0 })),
    '4000',
    'optional keeps its zero',
  )
})

t.test('a oneof says which member is set; the last one on the wire wins', async (t) => {
  const error = operation.encode({ error: { code: 5 } })
  t.equal(operation.decode(error).result, 'error')
  const both = operation.decode(Buffer.concat([error, operation.encode({ response: { typeUrl: 'x' } })]))
  t.equal(both.result, 'response')
  t.equal(both.error, null)
})

// Generates values of every message type in protos/ from its fields, for the round trip.
const scalar = (field: protobuf.Field): fc.Arbitrary<unknown> => {
  if (field.resolvedType instanceof protobuf.Type) return messageOf(field.resolvedType)
  if (field.resolvedType instanceof protobuf.Enum) return fc.constantFrom(...Object.values(field.resolvedType.values))
  if (field.type === 'string') return fc.string({ unit: 'grapheme', maxLength: 8 })
  if (field.type === 'bytes') return fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes))
  if (field.type === 'bool') return fc.boolean()
  if (field.type === 'double') return fc.double({ noNaN: true })
  if (field.type === 'float') return fc.float({ noNaN: true })
  if (field.type.startsWith('u')) return field.type === 'uint64' ? fc.maxSafeNat() : fc.nat(0xffffffff >>> 1)
  return field.type === 'int64' ? fc.maxSafeInteger() : fc.integer()
}

const messageOf = (type: protobuf.Type): fc.Arbitrary<object> => {
  const fields = type.fieldsArray.map((field): [string, fc.Arbitrary<unknown>] => {
    if (field.map)
      return [field.name, fc.dictionary(fc.string({ minLength: 1, maxLength: 4 }), scalar(field), { maxKeys: 2 })]
    return [field.name, field.repeated ? fc.array(scalar(field), { maxLength: 2 }) : scalar(field)]
  })
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] }).map((message) => withOneMemberEach(type, message))
}

const withOneMemberEach = (type: protobuf.Type, message: Record<string, unknown>): object => {
  for (const group of type.oneofsArray) {
    for (const spare of group.oneof.filter((name) => name in message).slice(1)) delete message[spare]
  }
  return message
}

const everyType = (namespace: protobuf.NamespaceBase): protobuf.Type[] =>
  namespace.nestedArray.flatMap((part) => [
    ...(part instanceof protobuf.Type ? [part] : []),
    ...(part instanceof protobuf.Namespace ? everyType(part) : []),
  ])
const types = everyType(root)

t.test('every message type survives a round trip, and its encoding is stable', async (t) => {
  for (const type of types) {
    const of = codecByName(type.fullName.slice(1))
    const property = fc.property(messageOf(type), (message) => {
      const encoded = of.encode(message)
      const decoded = of.decode(encoded)
      return of.encode(decoded as object).equals(encoded) && type.verify(decoded as object) === null
    })
    fc.assert(property, { numRuns: 20 })
  }
  t.ok(types.length > 130, `${types.length} types`)
})

t.test('garbage and hostile nesting are INVALID_ARGUMENT with the type name, never a crash', async (t) => {
  const bytes = fc.uint8Array({ maxLength: 64 })
  const property = fc.property(fc.constantFrom(...types), bytes, (type, garbage) => {
    try {
      codecByName(type.fullName.slice(1)).decode(garbage)
      return true
    } catch (error) {
      return isStatus(error, 'INVALID_ARGUMENT') && error.message.includes(type.fullName.slice(1))
    }
  })
  fc.assert(property, { numRuns: 3000 })
  const groups = Buffer.alloc(1 << 20, 0xa3)
  for (const hostile of [
    groups,
    Buffer.alloc(1 << 20, 0xff),
    Buffer.from('0affffffff0f', 'hex'),
    Buffer.from('0a05', 'hex'),
  ]) {
    t.throws(() => directory.decode(hostile), { code: 3, message: /build\.bazel\.remote\.execution\.v2\.Directory/ })
  }
  const proto = codec('build.bazel.remote.execution.v2.ExecuteResponse').decode(
    Buffer.from('220d0a095f5f70726f746f5f5f1200', 'hex'),
  )
  t.equal(Object.getPrototypeOf(proto.serverLogs), Object.prototype, 'a map key cannot replace a prototype')
})

t.test('a ReadResponse is encoded like the generated encoder does', async (t) => {
  const own = codec('google.bytestream.ReadResponse')
  const generated = root.lookupType('google.bytestream.ReadResponse')
  for (const size of [0, 1, 126, 127, 128, 129, 16383, 16384, 65536, 2097151, 2097152, 5_000_000]) {
    const message = { data: Buffer.alloc(size, 7) }
    t.ok(own.encode(message).equals(generated.encode(message).finish()), `${size} bytes`)
  }
  t.equal(own.encode({}).length, 0)
  t.equal(hex(own.encode({ data: new Uint8Array([1, 2]) })), '52020102')
})

t.test('Any', async (t) => {
  const any = pack(digest, { hash: 'ab', sizeBytes: 1 })
  t.equal(any.typeUrl, 'type.googleapis.com/build.bazel.remote.execution.v2.Digest')
  t.match(unpack(digest, any), { hash: 'ab', sizeBytes: 1 })
  t.match(unpack(digest, { ...any, typeUrl: `example.com/x/${digest.typeName}` }), { hash: 'ab' })
  t.notOk(holds(any, directory))
  t.throws(() => unpack(directory, any), {
    code: 3,
    message: /holds "type\.googleapis\.com.*Digest", expected .*Directory/,
  })
  t.throws(() => unpack(digest, { ...any, value: Buffer.from('0a', 'hex') }), { code: 3 })
})

t.test('error details are the messages clients look for', async (t) => {
  const failure = preconditionFailure([{ type: 'MISSING', subject: 'blobs/ab/1' }])
  t.match(unpack(codec('google.rpc.PreconditionFailure'), failure), {
    violations: [{ type: 'MISSING', subject: 'blobs/ab/1' }],
  })
  t.match(unpack(codec('google.rpc.RetryInfo'), retryInfo(1500)), { retryDelay: { seconds: 1, nanos: 5e8 } })
  t.match(unpack(codec('google.rpc.BadRequest'), badRequest([{ field: 'a' }])), { fieldViolations: [{ field: 'a' }] })
  const error = new StatusError('FAILED_PRECONDITION', 'inputs are missing', { details: [failure] })
  const status = codec('google.rpc.Status')
  const back = errorOf(status.decode(status.encode(statusOf(error))))
  t.match(back, { code: 9, message: 'inputs are missing', details: [{ typeUrl: failure.typeUrl }] })
  t.equal(errorOf({ code: 77, message: '', details: [] }).code, 2)
})

t.test('times', async (t) => {
  const table: [number, number, number][] = [
    [0, 0, 0],
    [1, 0, 1e6],
    [1500, 1, 5e8],
    [1_700_000_000_123, 1_700_000_000, 123e6],
    [-1, -1, 999e6],
  ]
  for (const [ms, seconds, nanos] of table) {
    t.same(timestampOf(ms), { seconds, nanos })
    t.equal(toMs(timestampOf(ms)), ms)
  }
  t.same(durationOf(-1500), { seconds: -1, nanos: -5e8 })
  t.same(durationOf(-250), { seconds: 0, nanos: -25e7 })
  t.same(timestampOf(999.9999999), { seconds: 1, nanos: 0 })
})

t.test('a service that is not in protos/ throws', async (t) => {
  t.throws(() => serviceDefinition('build.bazel.remote.execution.v2.Nope'), /no such/)
  t.throws(() => codecByName('build.bazel.remote.execution.v2.Nope'), /no such/)
})
