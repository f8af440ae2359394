import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { Metadata, type ServiceError } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import { type LogFields, silentLog } from '../../src/log/log.js'
import { codec } from '../../src/proto/codec.js'
import { retryInfo } from '../../src/proto/error-details.js'
import type { ClientStreaming, RpcCall, Service } from '../../src/rpc/rpc.js'
import { listen } from '../../src/server/listener.js'
import { until } from '../until.js'
import { collect, TestClient } from './client.js'
import { startThreads } from './threads.js'

const CAPABILITIES = 'build.bazel.remote.execution.v2.Capabilities'
const GET = `${CAPABILITIES}/GetCapabilities`
const BYTES = 'google.bytestream.ByteStream'
const EVENTS = 'google.devtools.build.v1.PublishBuildEvent'
const PUBLISH = `${EVENTS}/PublishBuildToolEventStream`

interface Line {
  readonly level: string
  readonly message: string
  readonly fields: LogFields
}

for (const { transport, threadCount } of [
  { transport: 'remexec', threadCount: 0 },
  { transport: 'remexec', threadCount: 2 },
  { transport: 'grpc-js', threadCount: 0 },
] as const)
  t.test(`calls over ${transport}${threadCount > 0 ? `, ${threadCount} service threads` : ''}`, async (t) => {
    const threaded = threadCount > 0 ? await startThreads(threadCount) : undefined
    t.teardown(() => threaded?.stop())
    // docs/transport.md lists the features that the second transport lacks.
    const onlyOurs = { skip: transport === 'remexec' ? false : 'grpc-js has no way to do so' }

    /** A server with these services, a client of it, and its log lines. */
    const serving = async (t: Test, services: readonly Service[], clientOptions = {}, readOffMs = 10_000) => {
      const lines: Line[] = []
      const record =
        (level: string) =>
        (message: string, fields: LogFields | (() => LogFields) = {}) =>
          void lines.push({ level, message, fields: typeof fields === 'function' ? fields() : fields })
      const log = { ...silentLog, debug: record('debug'), error: record('error') }
      const listener = await listen({
        address: '127.0.0.1:0',
        services,
        log,
        readOffMs,
        transport,
        ...threaded?.options,
      })
      const client = new TestClient(listener.address, clientOptions)
      t.teardown(async () => {
        client.close()
        await listener.close(1000)
      })
      return { client, lines, address: listener.address }
    }

    const failure = async (response: Promise<unknown>): Promise<ServiceError> => {
      try {
        await response
      } catch (error) {
        return error as ServiceError
      }
      throw new Error('the call succeeded')
    }

    const unary = (handle: (request: { instanceName: string }, call: RpcCall) => Promise<object>): Service => ({
      name: CAPABILITIES,
      unary: { GetCapabilities: handle },
    })

    t.test('unary: request, response, instance name, peer, metadata and one line in the log', async (t) => {
      let seen: RpcCall | undefined
      const service = unary(async (request, call) => {
        seen = call
        return { highApiVersion: { major: 2, prerelease: request.instanceName } }
      })
      const { client, lines } = await serving(t, [service])
      const metadata = new Metadata()
      metadata.set('x-foo', 'bar')
      metadata.set('x-foo-bin', Buffer.from([0, 255]))
      const requestMetadata = codec('build.bazel.remote.execution.v2.RequestMetadata')
      const header = { toolDetails: { toolName: 'bazel' }, actionId: 'a1', toolInvocationId: 'i1', targetId: '//a:b' }
      metadata.set('build.bazel.remote.execution.v2.requestmetadata-bin', requestMetadata.encode(header))
      const response = await client.unary(GET, { instanceName: 'main/x' }, { metadata }).response
      t.match(response, { highApiVersion: { major: 2, prerelease: 'main/x' } })
      t.equal(seen?.instanceName, 'main/x')
      t.match(seen?.peer, /^127\.0\.0\.1:\d+$/)
      t.equal(seen?.metadata.get('x-foo'), 'bar')
      t.same(seen?.metadata.get('x-foo-bin'), Buffer.from([0, 255]))
      t.equal(seen?.signal.aborted, false, 'the end of a call that went well aborts nothing')
      const about = { method: `/${GET}`, code: 'OK', instance: 'main/x', ms: Number }
      const said = { tool: 'bazel', action: 'a1', invocation: 'i1', target: '//a:b' }
      // The field of the name, and of a message with the major version and the name.
      const bytes = { receivedBytes: 2 + 6, sentBytes: 2 + 2 + 2 + 6 }
      t.match(lines, [{ level: 'debug', message: 'call', fields: { ...about, ...said, ...bytes } }])
    })

    t.test('failures: code, message and details arrive', async (t) => {
      let thrown: unknown
      const service = unary(async () => {
        throw thrown
      })
      const { client, lines } = await serving(t, [service])
      const ask = () => failure(client.unary(GET, {}).response)

      const late = new StatusError('UNAVAILABLE', 'später: 100 % voll\n\u0000naïve', { details: [retryInfo(1500)] })
      thrown = late
      const error = await ask()
      t.equal(error.code, 14)
      t.equal(error.details, late.message, 'as it is, line break and all')
      const trailer = codec('google.rpc.Status').decode(error.metadata.get('grpc-status-details-bin')[0] as Buffer)
      t.match(trailer, {
        code: 14,
        message: error.details,
        details: [{ typeUrl: 'type.googleapis.com/google.rpc.RetryInfo' }],
      })

      thrown = new Error('secret /home/someone')
      t.match(await ask(), { code: 13, details: 'internal error' })
      const line = lines.find(({ level }) => level === 'error')
      t.match(line, { fields: { code: 'INTERNAL', error: { cause: { message: 'secret /home/someone' } } } })

      const table: [string, unknown, number, RegExp][] = [
        ['a string', 'oops', 13, /^internal error$/],
        ['an abort', new DOMException('x', 'AbortError'), 1, /cancelled/],
        ['OK', new StatusError('OK', 'fine'), 13, /^internal error$/],
        ['an endless message', new StatusError('NOT_FOUND', 'é'.repeat(1e6)), 5, /^é{700}\.\.\.$/],
        ['a lone surrogate', new StatusError('NOT_FOUND', `a\ud800b`), 5, /^a\ufffdb$/],
        [
          'a surrogate pair that the cut splits',
          new StatusError('NOT_FOUND', `${'x'.repeat(699)}\u{1f600}`),
          5,
          /^x{699}\ufffd\.\.\.$/,
        ],
        [
          'huge details',
          new StatusError('NOT_FOUND', 'x', {
            details: Array(100).fill({ typeUrl: 'x'.repeat(99), value: Buffer.alloc(0) }),
          }),
          5,
          /^x$/,
        ],
      ]
      for (const [name, value, code, message] of table) {
        thrown = value
        const found = await ask()
        t.equal(found.code, code, name)
        t.match(found.details, message, name)
      }
    })

    t.test('an invalid request message is INVALID_ARGUMENT with the name of its type', async (t) => {
      const bytes: Service = {
        name: BYTES,
        clientStreaming: {
          Write: async (requests) => {
            for (let next = await requests.next(); next !== undefined; ) next = await requests.next()
            return { committedSize: 1 }
          },
        },
      }
      const { client } = await serving(t, [unary(async () => ({})), bytes])
      const garbage = Buffer.from('0affffff', 'hex')
      t.match(await failure(client.unary(GET, garbage).response), { code: 3, details: /GetCapabilitiesRequest/ })
      const { call, response } = client.clientStream(`${BYTES}/Write`)
      call.write({ resourceName: 'a' })
      call.write(garbage)
      call.end()
      t.match(await failure(response), { code: 3, details: /google\.bytestream\.WriteRequest/ })
    })

    t.test('answers that cannot be encoded are internal errors, for every kind of call', async (t) => {
      const broken = {
        get highApiVersion(): never {
          throw new Error('no value')
        },
      }
      const services: Service[] = [
        unary(async (request) => (request.instanceName === 'none' ? (undefined as unknown as object) : broken)),
        {
          name: BYTES,
          serverStreaming: { Read: async (_, __, responses) => void responses.write('no message') },
        },
      ]
      const { client, lines } = await serving(t, services)
      t.match(await failure(client.unary(GET, {}).response), { code: 13 })
      t.match(await failure(client.unary(GET, { instanceName: 'none' }).response), { code: 13 })
      const { status } = await collect(client.serverStream(`${BYTES}/Read`, {}))
      t.match(status, { code: 13 })
      t.equal(lines.filter(({ level }) => level === 'error').length, 3)
    })

    t.test('an unknown method is UNIMPLEMENTED immediately', async (t) => {
      const { client } = await serving(t, [unary(async () => ({}))])
      t.match(await failure(client.unary(`${BYTES}/QueryWriteStatus`, {}).response), { code: 12 })
      const { call, response } = client.clientStream(`${BYTES}/Write`)
      call.write({ data: Buffer.alloc(1 << 20) })
      t.match(await failure(response), { code: 12 })
      await t.rejects(listen({ address: '127.0.0.1:0', services: [{ name: 'no.such.Service' }] }))
      const wrongForm: Service = { name: BYTES, unary: { Read: async () => ({}) } }
      await t.rejects(listen({ address: '127.0.0.1:0', services: [wrongForm] }), /no unary method Read/)
      const twice = unary(async () => ({}))
      await t.rejects(listen({ address: '127.0.0.1:0', services: [twice, twice] }), /two services handle/)
    })

    t.test('a cancelled call and a passed deadline abort the signal, with different log lines', async (t) => {
      const aborted: unknown[] = []
      const service = unary(
        (_, { signal }) =>
          new Promise((_, reject) => {
            const end = () => {
              aborted.push(signal.reason)
              reject(signal.reason)
            }
            signal.addEventListener('abort', end, { once: true })
            began()
          }),
      )
      let began = (): void => {}
      const { client, lines } = await serving(t, [service])
      const running = new Promise<void>((resolve) => {
        began = resolve
      })
      const { response, cancel } = client.unary(GET, {})
      await running
      cancel()
      t.match(await failure(response), { code: 1 })
      // The deadline is set as a header, so only the server enforces it. With grpc-js' own deadline, the client would
      // cancel at about the same time.
      const metadata = new Metadata()
      metadata.set('grpc-timeout', '50m')
      t.match(await failure(client.unary(GET, {}, { metadata }).response), { code: 4 })
      await until(() => lines.length >= 2)
      t.same(lines.map(({ fields }) => fields['code']).sort(), ['CANCELLED', 'DEADLINE_EXCEEDED'])
      t.match(aborted, [{ code: 1 }, { code: 1 }])
    })

    t.test('a deadline beyond 24 days is ignored', onlyOurs, async (t) => {
      const slow = unary(async () => {
        await turn()
        return {}
      })
      const { client } = await serving(t, [slow])
      const metadata = new Metadata()
      metadata.set('grpc-timeout', '2592000S')
      t.ok(await client.unary(GET, {}, { metadata }).response)
    })

    t.test('server streaming: messages, then the status; failures after the first message too', async (t) => {
      const ends: Record<
        string,
        (responses: NodeJS.WritableStream & { destroy(error?: Error): unknown }) => Promise<void>
      > = {
        resolves: async () => {},
        ends: async (responses) => void responses.end(),
        throws: async () => {
          throw new StatusError('DATA_LOSS', 'lost')
        },
        destroys: async (responses) => void responses.destroy(new StatusError('DATA_LOSS', 'lost')),
        destroysAndHangs: (responses) => {
          responses.destroy(new StatusError('DATA_LOSS', 'lost'))
          return new Promise(() => {})
        },
        pipes: (responses) =>
          pipeline(
            Readable.from(
              (async function* () {
                yield { data: Buffer.from('b') }
                throw new StatusError('DATA_LOSS', 'lost')
              })(),
            ),
            responses,
          ),
        closes: async (responses) => void responses.destroy(),
      }
      const service: Service = {
        name: BYTES,
        serverStreaming: {
          Read: async (request: { resourceName: string }, _, responses) => {
            responses.write({ data: Buffer.from('a') })
            await ends[request.resourceName]?.(responses)
          },
        },
      }
      const { client } = await serving(t, [service])
      const read = (resourceName: string) => collect(client.serverStream(`${BYTES}/Read`, { resourceName }))
      for (const name of ['resolves', 'ends']) {
        const { messages, status } = await read(name)
        t.same(
          messages.map(({ data }) => String(data)),
          ['a'],
          name,
        )
        t.equal(status, undefined, name)
      }
      for (const name of ['throws', 'destroys', 'destroysAndHangs', 'pipes'])
        t.match((await read(name)).status, { code: 15, details: 'lost' }, name)
      t.match((await read('closes')).status, { code: 13 })
    })

    t.test(
      'server streaming: a client that stops reading causes bounded memory, and its cancellation ends the handler',
      async (t) => {
        const chunk = Buffer.alloc(64 * 1024)
        let written = 0
        let outcome: Promise<unknown> = Promise.resolve()
        const service: Service = {
          name: BYTES,
          serverStreaming: {
            Read: (_, __, responses) => {
              const source = new Readable({
                objectMode: true,
                read() {
                  written += 1
                  this.push({ data: chunk })
                },
              })
              const done = pipeline(source, responses)
              outcome = done.catch((error) => error)
              return done
            },
          },
        }
        const { client, lines } = await serving(t, [service])
        const stream = client.serverStream(`${BYTES}/Read`, {})
        stream.on('error', () => {})
        await once(stream, 'readable')
        let before = -1
        for (let quiet = 0; quiet < 50; quiet = written === before ? quiet + 1 : 0) {
          before = written
          await turn()
        }
        t.ok(written < 200, `${written} chunks were taken from the source while nobody read`)
        stream.cancel()
        t.match(await outcome, { code: 1 })
        await until(() => lines.length !== 0)
        t.match(lines, [{ fields: { code: 'CANCELLED' } }])
      },
    )

    const upload = (handle: ClientStreaming<{ readonly data: Buffer }>): Service => ({
      name: BYTES,
      clientStreaming: { Write: handle },
    })

    const counting: ClientStreaming<{ readonly data: Buffer }> = async (requests) => {
      let committedSize = 0
      for (let next = await requests.next(); next !== undefined; next = await requests.next()) {
        committedSize += next.message.data.length
        next.release()
      }
      return { committedSize }
    }

    t.test('client streaming: all messages, then the response', async (t) => {
      const service = upload(counting)
      const { client } = await serving(t, [service])
      const { call, response } = client.clientStream(`${BYTES}/Write`)
      for (let sent = 0; sent < 50; sent++) call.write({ data: Buffer.alloc(100_000) })
      call.end()
      t.match(await response, { committedSize: 5_000_000 })
      const empty = client.clientStream(`${BYTES}/Write`)
      empty.call.end()
      t.match(await empty.response, { committedSize: 0 })
    })

    // grpc-js ends its side and then resets the stream. A server on the loop of the client reads both at once.
    const onOneLoop = { skip: threadCount > 0 ? 'a thread may read the end before the reset' : false }
    t.test('client streaming: a cancelled upload is never treated as complete', onOneLoop, async (t) => {
      const outcomes: string[] = []
      let received = (): void => {}
      const service = upload(async (requests) => {
        try {
          for (let next = await requests.next(); next !== undefined; next = await requests.next()) received()
          outcomes.push('end')
        } catch (error) {
          outcomes.push(String((error as StatusError).code))
          throw error
        }
        return {}
      })
      const { client, address, lines } = await serving(t, [service])
      const cancelAfter = async (cancel: (call: { cancel(): void }) => unknown, of: TestClient): Promise<void> => {
        const began = new Promise<void>((resolve) => {
          received = resolve
        })
        const { call, response } = of.clientStream(`${BYTES}/Write`)
        call.write({ data: Buffer.alloc(1000) })
        await began
        await cancel(call)
        await failure(response)
      }
      for (let turns = 0; turns < 40; turns++) {
        await cancelAfter(async (call) => {
          for (let waited = 0; waited < turns % 5; waited++) await turn()
          call.cancel()
        }, client)
      }
      // The connection itself is closed.
      const gone = new TestClient(address, { 'grpc.use_local_subchannel_pool': 1 })
      await cancelAfter((call) => {
        call.cancel()
        gone.close()
      }, gone)
      await until(() => lines.length >= 41)
      t.same(outcomes, Array(41).fill('1'))
    })

    t.test('client streaming: an early answer reaches a client that never stops sending', async (t) => {
      const service = upload(async (requests) => {
        await requests.next()
        return { committedSize: 64 }
      })
      const { client } = await serving(t, [service])
      const { call, response } = client.clientStream(`${BYTES}/Write`)
      let done = false
      let sent = 0
      const send = (): void => {
        while (!done && call.write({ data: Buffer.alloc(256 * 1024) })) sent += 1
        if (!done) call.once('drain', send)
      }
      send()
      t.match(await response, { committedSize: 64 })
      done = true
      t.ok(sent > 0)
      t.match(
        await client.unary(`${BYTES}/QueryWriteStatus`, {}).response.catch((error) => error),
        { code: 12 },
        'the connection lives on',
      )
    })

    t.test('client streaming: a client that sends endlessly after its answer is stopped', onlyOurs, async (t) => {
      const service = upload(async (requests) => {
        await requests.next()
        return { committedSize: 64 }
      })
      const { address } = await serving(t, [service], {}, 1)
      const session = connectHttp2(`http://${address}`)
      t.teardown(() => session.destroy())
      const headers = {
        ':method': 'POST',
        ':path': `/${BYTES}/Write`,
        'content-type': 'application/grpc',
        te: 'trailers',
      }
      const stream = session.request(headers, { endStream: false })
      stream.on('error', () => {})
      const message = Buffer.alloc(5 + (1 << 16))
      const body = codec('google.bytestream.WriteRequest').encode({ data: Buffer.alloc((1 << 16) - 10) })
      message.writeUInt32BE(body.length, 1)
      body.copy(message, 5)
      const send = (): void => {
        if (!stream.destroyed) stream.write(message.subarray(0, 5 + body.length), send)
      }
      send()
      const trailers = once(stream, 'trailers')
      stream.resume()
      t.match((await trailers)[0], { 'grpc-status': '0' })
      if (!stream.closed) await once(stream, 'close')
      t.equal(stream.rstCode, 0, 'NO_ERROR: the answer counts')
      t.notOk(session.destroyed)
    })

    t.test('client streaming: an early failure reaches a client that sends more than every window', async (t) => {
      const service = upload(async () => {
        throw new StatusError('INVALID_ARGUMENT', 'no such name')
      })
      const { client } = await serving(t, [service])
      const { call, response } = client.clientStream(`${BYTES}/Write`)
      call.on('error', () => {})
      for (let sent = 0; sent < 100; sent++) call.write({ data: Buffer.alloc(1 << 20) })
      t.match(await failure(response), { code: 3, details: 'no such name' })
    })

    t.test('client streaming: a handler that does not read stops the client by backpressure', async (t) => {
      let go = (): void => {}
      let begun = (): void => {}
      const hasBegun = new Promise<void>((resolve) => {
        begun = resolve
      })
      const service = upload(async (requests, call) => {
        await new Promise<void>((resolve) => {
          go = resolve
          begun()
        })
        return counting(requests, call)
      })
      const { client } = await serving(t, [service])
      const { call, response } = client.clientStream(`${BYTES}/Write`)
      let taken = 0
      const size = 256 * 1024
      for (let sent = 0; sent < 200; sent++) call.write({ data: Buffer.alloc(size) }, () => void taken++)
      await hasBegun
      let before = -1
      for (let quiet = 0; quiet < 50; quiet = taken === before ? quiet + 1 : 0) {
        before = taken
        await turn()
      }
      t.ok(taken * size < 16 * 1024 * 1024, `${taken} messages left the client while nobody read`)
      go()
      call.end()
      t.match(await response, { committedSize: 200 * size })
    })

    t.test('bidirectional: answers during the requests, failure and cancellation', async (t) => {
      const outcomes: unknown[] = []
      const service: Service = {
        name: EVENTS,
        bidirectional: {
          PublishBuildToolEventStream: async (requests, responses) => {
            try {
              for await (const { orderedBuildEvent } of requests) {
                if (orderedBuildEvent.sequenceNumber === 99) throw new StatusError('ABORTED', 'enough')
                responses.write({ sequenceNumber: orderedBuildEvent.sequenceNumber })
              }
              outcomes.push('end')
            } catch (error) {
              outcomes.push(error)
              throw error
            }
          },
        },
      }
      const { client, lines } = await serving(t, [service])
      const numbered = (sequenceNumber: number) => ({ orderedBuildEvent: { sequenceNumber } })
      const stream = client.bidi(PUBLISH)
      for (const number of [1, 2, 3]) {
        stream.write(numbered(number))
        t.match(await once(stream, 'data'), [{ sequenceNumber: number }])
      }
      stream.end()
      t.equal((await collect(stream)).status, undefined)

      const failing = client.bidi(PUBLISH)
      failing.write(numbered(99))
      t.match((await collect(failing)).status, { code: 10, details: 'enough' })

      const cancelled = client.bidi(PUBLISH)
      cancelled.on('error', () => {})
      cancelled.write(numbered(1))
      await once(cancelled, 'data')
      cancelled.cancel()
      await until(() => lines.length >= 3)
      // A client of grpc-js ends its side before it resets, and a thread may read the end alone.
      const endsFirst = threadCount > 0 && outcomes[2] === 'end'
      t.match(outcomes, ['end', { code: 10 }, endsFirst ? 'end' : { code: 1 }])
    })

    t.test('a hundred concurrent streams on one connection', async (t) => {
      let open = 0
      let allOpen = (): void => {}
      const together = new Promise<void>((resolve) => {
        allOpen = resolve
      })
      const service: Service = {
        name: BYTES,
        serverStreaming: {
          Read: async (request: { readOffset: number }, _, responses) => {
            if (++open === 100) allOpen()
            await together
            responses.write({ data: Buffer.alloc(request.readOffset) })
          },
        },
      }
      const { client } = await serving(t, [service])
      const reads = Array.from({ length: 100 }, (_, readOffset) =>
        collect(client.serverStream(`${BYTES}/Read`, { readOffset })),
      )
      const results = await Promise.all(reads)
      t.same(
        results.map(({ messages }) => messages[0].data.length),
        Array.from({ length: 100 }, (_, size) => size),
      )
    })

    t.test(
      'requests: gzip and a message of 4 MiB with its envelope are accepted, one above the limit is refused',
      async (t) => {
        const service = upload(counting)
        const { client, address } = await serving(t, [service])
        const zipping = new TestClient(address, { 'grpc.default_compression_algorithm': 2 })
        t.teardown(() => zipping.close())
        const send = (of: TestClient, size: number) => {
          const { call, response } = of.clientStream(`${BYTES}/Write`)
          call.on('error', () => {})
          call.write({ resourceName: 'x'.repeat(1000), data: Buffer.alloc(size) })
          call.end()
          return response
        }
        t.match(await send(zipping, 300_000), { committedSize: 300_000 })
        t.match(await send(client, 4 * 1024 * 1024), { committedSize: 4 * 1024 * 1024 })
        t.match(await failure(send(client, 17 * 1024 * 1024)), { code: 8 })
        t.match(await failure(send(zipping, 17 * 1024 * 1024)), { code: 8 }, 'a bomb is measured unpacked')
      },
    )

    t.test('headers: 8 KiB, unknown names and an undecodable RequestMetadata are accepted', async (t) => {
      const { client, lines } = await serving(t, [unary(async () => ({}))])
      const name = 'build.bazel.remote.execution.v2.requestmetadata-bin'
      const requestMetadata = codec('build.bazel.remote.execution.v2.RequestMetadata')
      const large = new Metadata()
      large.set(name, requestMetadata.encode({ actionId: Array(120).fill('0123456789abcdef'.repeat(4)).join(',') }))
      const broken = new Metadata()
      broken.set(name, Buffer.from('0affff', 'hex'))
      for (const metadata of [large, broken]) t.ok(await client.unary(GET, {}, { metadata }).response)
      t.match(lines[1]?.fields, { requestMetadata: 'undecodable' })
    })
  })
