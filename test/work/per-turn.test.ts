import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { reportTimerFailures } from '../../src/base/timers.js'
import { PerTurn } from '../../src/work/per-turn.js'

/** Begins `count` pieces, as many at once as may, and returns how many began in each turn. */
const turnsOf = async (turns: PerTurn, count: number, begun: number[]): Promise<number[]> => {
  for (let piece = 0; piece < count; piece++) {
    if (turns.take()) begun.push(piece)
    else turns.wait(() => begun.push(piece))
  }
  const perTurn = [begun.length]
  // biome-ignore lint/plugin: at least one piece begins in each turn
  for (let turn = 0; begun.length < count && turn < count; turn++) {
    const before = begun.length
    await setImmediate()
    perTurn.push(begun.length - before)
  }
  return perTurn
}

t.test('no turn begins more than the bound, and all begin in order', async (t) => {
  const begun: number[] = []
  const perTurn = await turnsOf(new PerTurn(4), 50, begun)
  t.ok(Math.max(...perTurn) <= 4, perTurn.join(' '))
  t.same(
    begun,
    Array.from({ length: 50 }, (_, piece) => piece),
  )
})

t.test('a piece does not overtake those that wait, and the bound is whole again in a later turn', async (t) => {
  const turns = new PerTurn(1)
  const begun: string[] = []
  t.ok(turns.take())
  turns.wait(() => begun.push('first'))
  t.notOk(turns.take(), 'one began in this turn already')
  await setImmediate()
  t.same(begun, ['first'])
  t.notOk(turns.take(), 'the first was the one of its turn')
  await setImmediate()
  await setImmediate()
  t.ok(turns.take())
})

t.test('a piece that is dropped never begins and takes no place', async (t) => {
  const turns = new PerTurn(1)
  const begun: string[] = []
  turns.take()
  const dropped = (): void => void begun.push('dropped')
  turns.wait(dropped)
  turns.wait(() => begun.push('second'))
  turns.forget(dropped)
  await setImmediate()
  t.same(begun, ['second'])
})

t.test('the pieces behind one that throws begin in the next turn', async (t) => {
  const failures: unknown[] = []
  reportTimerFailures(({ error }) => failures.push(error), 0)
  t.teardown(() => reportTimerFailures(undefined))
  const turns = new PerTurn(2)
  const begun: string[] = []
  turns.wait(() => {
    throw new Error('broken')
  })
  turns.wait(() => begun.push('second'))
  turns.wait(() => begun.push('third'))
  for (let turn = 0; turn < 4; turn++) await setImmediate()
  t.same(begun, ['second', 'third'])
  t.match(failures, [{ message: 'broken' }])
})
