import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { CARRIED, handedIn, handInOf } from '../../src/scheduler/handing-in.js'
import type { ExecutionRequest, OperationPast } from '../../src/scheduler/scheduler.js'

const message = codec('remexec.scheduler.v1.HandIn')

const whole: Required<Omit<ExecutionRequest, 'lookUpIn' | 'refusal'>> = {
  instanceName: 'a/b',
  actionDigest: Digest.of(Buffer.from('x'), digestFunctions.BLAKE3),
  properties: [{ name: 'os', value: 'linux' }],
  actionBytes: Buffer.from('action'),
  workingDirectory: '',
  rootKeys: ['root:1', 'kind:2'],
  priority: -3,
  doNotCache: true,
  skipCacheLookup: true,
  invocation: 'i',
  target: 't',
  mnemonic: 'm',
  trace: { traceparent: 'p', tracestate: 's' },
  metadata: Buffer.from('meta'),
  scope: 'branch',
  identity: 'token ci',
}

const past: OperationPast = {
  ...{ queuedMs: 4_000, attempts: 3, failures: 2 },
  running: { attemptId: 'id-3', workerId: 'w', scope: 'branch' },
}

const travelled = (request: ExecutionRequest, itsPast: OperationPast | undefined, laterMs = 0) => {
  const encoded = message.encode(
    handInOf({ id: 'id', past: itsPast, wasLookedUp: itsPast !== undefined }, request, {
      isAttended: true,
      nowMs: 10_000,
    }),
  )
  return handedIn(message.decode(encoded), 50_000 + laterMs)
}

t.test('every field of a request arrives, and nothing that was the matter of the front', async (t) => {
  const { request, handed } = travelled({ ...whole, lookUpIn: ['here'] }, past)
  t.same(request, whole)
  t.same(
    Object.keys(request).sort(),
    Object.keys(CARRIED)
      .filter((key) => CARRIED[key as keyof typeof CARRIED])
      .sort(),
  )
  t.same(
    handed,
    { id: 'id', wasLookedUp: true, past: { ...past, queuedMs: 44_000 } },
    'how long it was queued, by the clock there',
  )
})

t.test('what is not set arrives as not set', async (t) => {
  const { actionDigest, properties } = whole
  const least: ExecutionRequest = {
    ...{
      instanceName: '',
      actionDigest,
      properties,
      priority: 0,
      doNotCache: false,
      skipCacheLookup: false,
      invocation: '',
    },
  }
  const { request, handed } = travelled(least, undefined)
  t.match(request, { ...least, scope: undefined, identity: undefined, workingDirectory: undefined, trace: undefined })
  t.same(handed, { id: 'id', wasLookedUp: false, past: undefined })
})

t.test('an id that could be part of another name is refused', async (t) => {
  for (const id of ['', 'a/b', 'a b', '~x', 'x'.repeat(201)]) {
    const encoded = message.encode(handInOf({ id }, whole, { isAttended: true, nowMs: 0 }))
    t.throws(() => handedIn(message.decode(encoded), 0), { message: /^id .* is not valid/ }, JSON.stringify(id))
  }
})
