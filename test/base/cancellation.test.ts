import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { whenAborted } from '../../src/base/cancellation.js'

t.test('many transfers of one call hear its signal, and Node does not warn of a leak', async (t) => {
  const warnings: string[] = []
  const warn = ({ message }: Error): void => void warnings.push(message)
  process.on('warning', warn)
  t.teardown(() => process.removeListener('warning', warn))
  const controller = new AbortController()
  let heard = 0
  for (let transfer = 0; transfer < 40; transfer++) whenAborted(controller.signal, () => heard++)
  await turn()
  t.same(warnings, [])
  controller.abort()
  t.equal(heard, 40)
})

t.test('a listener that was removed hears nothing', async (t) => {
  const controller = new AbortController()
  const fail = (): void => {
    t.fail('it heard')
  }
  whenAborted(controller.signal, fail)
  controller.signal.removeEventListener('abort', fail)
  controller.abort()
})
