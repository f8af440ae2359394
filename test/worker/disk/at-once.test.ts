import t from 'tap'
import { AtOnceWhileQuick } from '../../../src/worker/disk/at-once.js'

t.test('what takes long is left to the thread pool for a while, then tried again', async (t) => {
  const said: string[] = []
  const untilMs = (ms: number): void => {
    while (performance.now() < ms) said.length
  }
  const at = new AtOnceWhileQuick(
    (path) => {
      said.push(`at once ${path}`)
      untilMs(performance.now() + 1)
    },
    async (path) => said.push(`later ${path}`),
  )
  for (let call = 0; call < 66; call++) await at.call(String(call))
  t.same(
    said.filter((one) => one.startsWith('at once')),
    ['at once 0', 'at once 65'],
  )
  t.equal(said.filter((one) => one.startsWith('later')).length, 64)
})

t.test('failures are those of the calls', async (t) => {
  const fail = (): never => {
    throw new Error('no')
  }
  const at = new AtOnceWhileQuick<[string]>(fail, async () => fail())
  await t.rejects(at.call('a'), { message: 'no' })
})
