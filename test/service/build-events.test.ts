import t, { type Test } from 'tap'
import { keyOf } from '../../src/builds/about.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { codec } from '../../src/proto/codec.js'
import { Invocations } from '../../src/rpc/invocations.js'
import { listen } from '../../src/server/listener.js'
import { buildEventService } from '../../src/service/build-events/service.js'
import { events, folderFor, LAST, openBuilds, progress, recordsOf } from '../builds/harness.js'
import { collect, TestClient } from '../server/client.js'
import { until } from '../until.js'
import { failure } from './harness.js'

const STREAM = 'google.devtools.build.v1.PublishBuildEvent/PublishBuildToolEventStream'
const LIFECYCLE = 'google.devtools.build.v1.PublishBuildEvent/PublishLifecycleEvent'
const requests = codec('remexec.builds.v1.ToolEvent')

const serve = async (t: Test) => {
  const { builds, clock } = await openBuilds(t, await folderFor(t))
  const ledger = new Ledger()
  const invocations = new Invocations(clock)
  const service = buildEventService({ builds, ledger, clock, invocations, maxSilenceMs: 60_000 })
  const listener = await listen({ address: '127.0.0.1:0', transport: 'remexec', ledger, services: [service] })
  const client = new TestClient(listener.address)
  t.teardown(async () => {
    client.close()
    builds.stop()
    await listener.close(0)
  })
  return { client, builds, clock, ledger, invocations }
}

const streamId = (invocationId = 'one') => ({ buildId: 'b', invocationId, component: 3 })

/** As Bazel sends it. The event is given encoded, so that a test may put any bytes there. */
const request = (sequenceNumber: number, event: Buffer, invocationId?: string) => ({
  encoded: requests.encode({ orderedBuildEvent: { streamId: streamId(invocationId), sequenceNumber, event } }),
})

/** A call whose requests are encoded already. */
const open = (client: TestClient) => {
  const method = `/${STREAM}`
  const response = codec('google.devtools.build.v1.PublishBuildToolEventStreamResponse')
  return client.client.makeBidiStreamRequest(
    method,
    ({ encoded }: { readonly encoded: Buffer }) => encoded,
    (bytes: Buffer) => response.decode(bytes),
  )
}

/** The messages of a call that ends well; rejects with its status otherwise. */
const collected = async (call: Parameters<typeof collect>[0]) => {
  const { messages, status } = await collect(call)
  if (status !== undefined) throw status
  return messages
}

const numbers = (messages: readonly { readonly sequenceNumber: number }[]) =>
  messages.map(({ sequenceNumber }) => sequenceNumber)

const upTo = (count: number, from = 1) => Array.from({ length: count - from + 1 }, (_, at) => from + at)

t.test('every event is acknowledged in order, and kept byte for byte, also one of an unknown kind', async (t) => {
  const { client, builds, ledger, invocations } = await serve(t)
  const unknown = Buffer.concat([events.encode({ eventTime: { seconds: 5 } }), Buffer.from([0xfa, 0x06, 3, 1, 2, 3])])
  const all = [...upTo(700).map((at) => progress(`line ${at}`)), unknown, LAST]
  const call = open(client)
  const begun = new Promise<void>((resolve) => {
    call.once('data', () => resolve())
  })
  for (const [at, event] of all.slice(0, -1).entries()) call.write(request(at + 1, event))
  const answers = collected(call)
  await begun
  t.equal(invocations.count, 1, 'the build is alive')
  call.write(request(all.length, LAST))
  call.end()
  const messages = await answers
  t.equal(invocations.count, 0, 'the build is over')
  t.same(numbers(messages), upTo(702))
  t.match(messages[0], { streamId: streamId() })
  const kept = (await recordsOf(builds, keyOf('', 'one'))).slice(1)
  t.same(
    kept.map(({ event }) => event),
    all,
  )
  t.equal(ledger.kinds.events.heldBytes, 0)
  await until(() => ledger.kinds.event_streams.heldBytes === 0)
})

t.test('a client that comes back resends what it had no answer for: no gap, no double', async (t) => {
  const { client, builds } = await serve(t)
  const first = open(client)
  first.on('error', () => {})
  for (const at of upTo(10)) first.write(request(at, progress(`line ${at}`)))
  await new Promise<void>((resolve) => {
    first.on('data', ({ sequenceNumber }) => sequenceNumber === 10 && resolve())
  })
  first.cancel()
  const second = open(client)
  for (const at of upTo(15, 6)) second.write(request(at, progress(`line ${at}`)))
  second.write(request(16, LAST))
  second.end()
  t.same(numbers(await collected(second)), upTo(16, 6))
  const kept = (await recordsOf(builds, keyOf('', 'one'))).slice(1)
  t.same(
    kept.map(({ number }) => number),
    upTo(16),
  )
  const gap = open(client)
  gap.write(request(3, progress('x'), 'two'))
  gap.end()
  t.match(await failure(collected(gap)), { code: 'FAILED_PRECONDITION', message: /expected event 1/ })
})

t.test('lifecycle events are kept with their invocation; the one before there is any is only answered', async (t) => {
  const { client, builds } = await serve(t)
  const send = (sequenceNumber: number, invocationId: string, event: object) =>
    client.unary(LIFECYCLE, { buildEvent: { streamId: streamId(invocationId), sequenceNumber, event } }).response
  await send(1, '', { buildEnqueued: {} })
  t.same(builds.list(), [])
  await send(1, 'one', { invocationAttemptStarted: { attemptNumber: 1 } })
  await send(1, 'one', { invocationAttemptStarted: { attemptNumber: 1 } })
  await send(2, 'one', {
    invocationAttemptFinished: { invocationStatus: { result: 1, buildToolExitCode: { value: 8 } } },
  })
  await send(2, '', { buildFinished: { status: { result: 1, finalInvocationId: 'one' } } })
  t.equal((await recordsOf(builds, keyOf('', 'one'))).length, 4)
  t.match(builds.list(), [{ summary: { exitCode: 8, isFinished: false }, isOpen: false }])
})

t.test('bad requests get errors that clients do not retry', async (t) => {
  const { client, builds } = await serve(t)
  const cases: [string, { encoded: Buffer }[], RegExp][] = [
    ['no event', [{ encoded: Buffer.alloc(0) }], /no event with a stream_id/],
    ['no id', [request(1, progress('a'), '')], /invocation_id is "", expected/],
    ['an id for another folder', [request(1, progress('a'), '../x')], /invocation_id is "..\/x"/],
    ['number 0', [request(0, progress('a'))], /sequence_number is 0/],
    ['an empty event', [request(1, Buffer.alloc(0))], /event 1 is empty/],
    ['bytes that are no event', [request(1, Buffer.from([0xff]))], /not a valid/],
    ['two streams', [request(1, progress('a')), request(2, progress('b'), 'other')], /of two streams/],
  ]
  for (const [title, sent, message] of cases) {
    const call = open(client)
    for (const one of sent) call.write(one)
    call.end()
    t.match(await failure(collected(call)), { code: 'INVALID_ARGUMENT', message }, title)
  }
  t.same(
    builds.list().map(({ summary }) => summary.eventCount),
    [1],
    'the event before the second stream is kept',
  )
})

t.test('a silent stream ends, and so do all when the server stops; their clients may come back', async (t) => {
  const { client, builds, clock } = await serve(t)
  for (const [end, message] of [
    [() => clock.advance(70_000), /no event came for 1 minutes/],
    [() => builds.stop(), /the server stops/],
  ] as const) {
    const call = open(client)
    const ended = failure(collected(call))
    call.write(request(1, progress('a')))
    await until(() => builds.list().some(({ isOpen }) => isOpen))
    end()
    t.match(await ended, { code: 'UNAVAILABLE', message })
    await until(() => !builds.list().some(({ isOpen }) => isOpen))
  }
})

t.test('the number of open streams has a bound', async (t) => {
  const { client, ledger } = await serve(t)
  const taken = ledger.kinds.event_streams
  const all = ledger.instance('x')
  t.ok(taken.take(all, taken.boundOf(all)))
  t.ok(taken.take(ledger.instance('y'), taken.maxBytes - taken.heldBytes))
  const call = open(client)
  call.write(request(1, progress('a')))
  call.end()
  t.match(await failure(collected(call)), { code: 'RESOURCE_EXHAUSTED', message: /event_streams/ })
})

t.test('a request with more beside its event than any client sends is refused before it is decoded', async (t) => {
  const { client } = await serve(t)
  const small = { streamId: streamId(), sequenceNumber: 1, event: progress('x') }
  const keywords = (count: number) => Array.from({ length: count }, () => 'k')
  const refused = async (envelope: object, event = small) => {
    const call = open(client)
    call.end({ encoded: requests.encode({ orderedBuildEvent: event, ...envelope }) })
    return collected(call).then(
      () => undefined,
      (status: { code: number; details: string }) => `${status.code} ${status.details}`,
    )
  }
  t.match(await refused({ notificationKeywords: keywords(3_000_000) }), /^3 .*more fields than any message/)
  t.match(
    await refused({ notificationKeywords: ['k'.repeat(100_000)] }),
    /^3 the request has 1\d{5} bytes beside its event/,
  )
  const named = { ...small, streamId: { ...streamId(), buildId: 'b'.repeat(70_000) } }
  t.match(await refused({}, named), /^3 .*expected at most 65536/)
  t.equal(
    await refused({ notificationKeywords: keywords(1000) }, { ...small, event: progress('y'.repeat(200_000)) }),
    undefined,
  )
})
