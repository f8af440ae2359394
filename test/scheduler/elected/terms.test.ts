import { Duplex } from 'node:stream'
import t, { type Test } from 'tap'
import { ManualClock, systemClock } from '../../../src/base/clock.js'
import { StatusError } from '../../../src/base/status-error.js'
import { Ledger } from '../../../src/ledger/ledger.js'
import { silentLog } from '../../../src/log/log.js'
import { ElectedScheduler } from '../../../src/scheduler/elected/elected-scheduler.js'
import type { Engine } from '../../../src/scheduler/elected/engine.js'
import { Office } from '../../../src/scheduler/elected/office.js'
import { Spread } from '../../../src/scheduler/elected/spread.js'
import type { RemoteExecution } from '../../../src/scheduler/grpc/remote-execution.js'
import type { SchedulerHost } from '../../../src/scheduler/simple/host.js'
import { HeardTerm } from '../../../src/worker/heard-term.js'
import { until } from '../../until.js'
import { candidate, LONG_MS } from './engines.js'

/** A server that follows one that says it is this one. */
const following = async (t: Test, welcome: { epoch: number; leaderId: string }) => {
  const term = { epoch: 5, leader: candidate('x') }
  const engine = {
    ...{ name: 'the engine', campaign: async () => ({ term, memberIds: [], secret: 's' }), resign: async () => {} },
    ...{ warning: async () => undefined, close: async () => {} },
  } as Engine
  const heard: string[] = []
  let isOver = false
  const join = async () => {
    const stream = new Duplex({
      objectMode: true,
      read: () => {},
      write: (message: object, _, done) => {
        heard.push(...Object.keys(message))
        if ('hello' in message) stream.push({ ...NOTHING, welcome: { stillThereIntervalMs: 60_000, ...welcome } })
        done()
      },
    })
    stream
      .on('error', () => {})
      .once('close', () => {
        isOver = true
      })
    return stream
  }
  const scheduler = new ElectedScheduler({
    ...{ name: 'MAIN', engine, candidate: candidate('a'), leaseMs: 1_000, whenEngineAway: 'continue', waitMs: LONG_MS },
    ...{
      rebuildMs: LONG_MS,
      keepAliveIntervalMs: 1_000,
      checkPlatform: () => {},
      clock: systemClock,
      log: silentLog,
      ledger: new Ledger(),
      spread: new Spread(),
    },
    results: { find: async () => undefined, keep: async (_, response) => response },
    newHost: () => {
      throw new Error('it leads nothing')
    },
    remoteAt: () =>
      ({ backend: 'x', join, failureOf: StatusError.from, close: () => {} }) as unknown as RemoteExecution,
    newId: () => 'id',
  })
  t.teardown(() => scheduler.close())
  scheduler.start()
  return { heard, isOver: () => isOver }
}

const NOTHING = { news: null, end: null, notKnown: null, stillThere: null, welcome: null }

t.test('a front joins a leader of the term that it has heard of, and tells what it holds', async (t) => {
  const { heard } = await following(t, { epoch: 5, leaderId: 'x' })
  await until(() => heard.includes('holdingEnded'), 'all that it holds')
})

for (const [what, welcome] of [
  ['an earlier term', { epoch: 4, leaderId: 'x' }],
  ['the same number, who is another one', { epoch: 5, leaderId: 'y' }],
] as const) {
  t.test(`a front tells nothing to a leader of ${what}`, async (t) => {
    const { heard, isOver } = await following(t, welcome)
    await until(isOver, 'the end of its stream')
    t.notOk(heard.includes('holdingEnded'))
  })
}

t.test('a worker refuses a leader of an earlier term, but not for ever: the counter may be lost', async (t) => {
  const heard = new HeardTerm()
  t.ok(heard.accept({ epoch: 7, termKey: 'k' }, 0))
  t.notOk(heard.accept({ epoch: 6, termKey: 'other' }, 1_000))
  t.same([heard.epoch, heard.termKey], [7, 'k'])
  t.notOk(heard.accept({ epoch: 6, termKey: 'other' }, 60_000))
  t.ok(heard.accept({ epoch: 7, termKey: 'k' }, 60_500), 'the right one came back')
  t.notOk(heard.accept({ epoch: 1, termKey: 'new' }, 61_000))
  t.ok(heard.accept({ epoch: 1, termKey: 'new' }, 121_000), 'nobody else came for a minute')
  t.same([heard.epoch, heard.termKey], [1, 'new'])
})

t.test('nothing is started before every server that was there has told what it holds', async (t) => {
  let isReleased = false
  const host = {
    release: () => {
      isReleased = true
    },
    close: () => {},
  } as SchedulerHost
  const office = new Office({
    ...{ term: { epoch: 1, leader: candidate('a') }, host, memberIds: ['a', 'b'], rebuildMs: LONG_MS },
    ...{ clock: new ManualClock(), log: silentLog, onTermSeen: () => {}, ledger: new Ledger(), isKeyOf: () => true },
  })
  t.teardown(() => office.close())
  const tell = async (id: string): Promise<void> => {
    const hello = { protocolVersion: 1, saysKept: true, scheduler: 'MAIN', serverId: id, highestEpoch: 1 }
    const sent = [{ ...TOLD_NOTHING, message: 'holdingEnded', holdingEnded: {} }]
    const messages = (async function* () {
      yield* sent
    })()
    const responses = new Duplex({ objectMode: true, read: () => {}, write: (_, __, done) => done() })
    const signal = new AbortController().signal
    await office.join({ hello, messages, responses, signal, fail: () => {}, checkInstance: () => {} } as never)
  }
  await tell('a')
  t.notOk(isReleased, 'the other one may have what was queued first')
  await tell('b')
  t.ok(isReleased)
})

const TOLD_NOTHING = { handIn: null, attend: null, leave: null, kept: null, termSeen: null, hello: null }
