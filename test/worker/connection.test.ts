import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { silentLog } from '../../src/log/log.js'
import { Connection } from '../../src/worker/connection.js'
import { FakeScheduler } from './fake-scheduler.js'

t.test('a worker sends keepalives as often as the scheduler asks, however long its own timeout is', async (t) => {
  const scheduler = new FakeScheduler()
  await scheduler.listen()
  const connection = new Connection({
    address: scheduler.address,
    headers: new Map(),
    timeoutMs: 3_600_000,
    describe: async () => ({ name: 'w', properties: [], maxInflightAttempts: 1 }),
    attempts: () => [],
    onWelcome: () => {},
    onMessage: () => {},
    clock: systemClock,
    log: silentLog,
  })
  t.teardown(async () => {
    await connection.close()
    await scheduler.close()
  })
  // Timers of the connection do not keep the process alive.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  connection.start()
  for (let count = 0; count < 2; count++) t.ok(await scheduler.next('keepAlive'))
})
