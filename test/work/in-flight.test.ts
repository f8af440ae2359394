import t from 'tap'
import { InFlight } from '../../src/work/in-flight.js'

t.test('idle resolves once nothing is in flight', async (t) => {
  const inFlight = new InFlight()
  await inFlight.idle()
  let isIdle = false
  let finish = (): void => {}
  inFlight.during(
    new Promise((resolve) => {
      finish = resolve
    }),
  )
  inFlight.begin()
  const idle = inFlight.idle().then(() => {
    isIdle = true
  })
  inFlight.end()
  await new Promise(setImmediate)
  t.notOk(isIdle)
  finish()
  await idle
})
