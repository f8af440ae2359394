import t from 'tap'
import { Batcher } from '../../../../src/store/kinds/grpc/batcher.js'

/** A batcher whose batches end when the test says so. */
const held = () => {
  const sent: { readonly items: readonly string[]; readonly signal: AbortSignal; end(): void }[] = []
  const batcher = new Batcher<string, string>({
    ...{ maxBytes: () => 10_000, maxQueuedBytes: 1000, slots: 1 },
    send: (items, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        sent.push({ items, signal, end: () => resolve(items) })
      }),
  })
  return { batcher, sent }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

t.test('a caller that gives up waits no longer, and its item takes no room', async (t) => {
  const { batcher, sent } = held()
  const never = new AbortController().signal
  const first = batcher.add('first', 10, never)
  await turn()
  const gone = new AbortController()
  const second = batcher.add('second', 700, gone.signal)
  t.notOk(batcher.hasRoom(700))
  gone.abort()
  await t.rejects(second, { code: 1 })
  t.ok(batcher.hasRoom(700))
  const third = batcher.add('third', 10, never)
  sent[0]?.end()
  t.equal(await first, 'first')
  await turn()
  sent[1]?.end()
  t.equal(await third, 'third')
  t.same(
    sent.map(({ items }) => items),
    [['first'], ['third']],
  )
})

t.test('a batch ends when the last of its callers gives up', async (t) => {
  const { batcher, sent } = held()
  const callers = [new AbortController(), new AbortController()]
  const answers = callers.map(({ signal }, at) => batcher.add(`${at}`, 10, signal))
  await turn()
  const [one, other] = callers
  one?.abort()
  await t.rejects(answers[0] as Promise<string>, { code: 1 })
  t.equal(sent[0]?.signal.aborted, false)
  other?.abort()
  await t.rejects(answers[1] as Promise<string>, { code: 1 })
  t.equal(sent[0]?.signal.aborted, true)
})
