import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { bufferOf, ThreadChannel } from '../../../src/server/threads/channel.js'

interface Heard {
  said(words: string, more: number | undefined): void
  bytes(bytes: Uint8Array): void
  other(): void
  doubled(value: number): Promise<number>
  refused(why: string): Promise<void>
  never(): Promise<string>
}

/** A channel, the messages that go through it, and what the other side has heard. */
const open = (t: Test) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const near = new ThreadChannel<Heard>(port1)
  const far = new ThreadChannel<{ back(value: number): void }>(port2)
  const heard: unknown[] = []
  let messages = 0
  port2.on('message', () => {
    messages += 1
  })
  far.hear<Heard>({
    said: (...values) => void heard.push(values),
    bytes: (bytes) => void heard.push(bufferOf(bytes)),
    other: () => void heard.push('other'),
    doubled: async (value) => {
      heard.push(value)
      far.send('back', value)
      return 2 * value
    },
    refused: (why) => {
      throw why === ''
        ? new TypeError('nothing was said')
        : new StatusError('ABORTED', why, { details: [{ typeUrl: 'type', value: Buffer.from('v') }] })
    },
    never: () => new Promise(() => {}),
  })
  near.hear<{ back(value: number): void }>({ back: (value) => void heard.push(`back ${value}`) })
  return { near, far, heard, messages: () => messages }
}

t.test('what is told and asked in one turn goes in one message, and keeps its order', async (t) => {
  const { near, heard, messages } = open(t)
  near.send('said', 'a', 1)
  const asked = near.ask('doubled', 2)
  near.send('other')
  near.send('said', 'b', undefined)
  t.equal(await asked.then((value) => [...heard, value].length), 6)
  t.same(heard, [['a', 1], 2, 'other', ['b', undefined], 'back 2'], 'an answer follows what was told before it')
  t.equal(messages(), 1)
  near.send('said', 'c', 3)
  near.send('other')
  t.equal(await near.ask('doubled', 4), 8)
  t.same(heard.slice(5), [['c', 3], 'other', 4, 'back 4'], 'also when the kinds are known')
  t.equal(messages(), 2)
})

t.test('each question gets its own answer', async (t) => {
  const { near } = open(t)
  t.same(await Promise.all([1, 2, 3].map((value) => near.ask('doubled', value))), [2, 4, 6])
})

t.test(
  'what an answer fails with reaches who asked: code, message and details, and for the log the cause',
  async (t) => {
    const { near } = open(t)
    const details = [{ typeUrl: 'type', value: Uint8Array.from(Buffer.from('v')) }]
    await t.rejects(near.ask('refused', 'it is closed'), { code: 10, message: 'it is closed', details })
    const error = await near.ask('refused', '').catch((error: StatusError) => error)
    t.match(error, { code: 13, message: 'internal error' })
    t.match(error, { cause: { stack: /nothing was said/ } })
  },
)

t.test('what belongs to the other thread is not here any more, and copies are', async (t) => {
  const { near, heard } = open(t)
  const [given, kept] = [Uint8Array.of(1, 2), Uint8Array.of(3, 4)]
  near.give(given.buffer)
  near.send('bytes', given)
  near.send('bytes', near.copyOf(kept))
  kept.fill(0)
  await near.ask('doubled', 1)
  t.same(heard.slice(0, 2), [Buffer.of(1, 2), Buffer.of(3, 4)])
  t.same([given.byteLength, kept.byteLength], [0, 2])
})

t.test('what is collected until a message goes goes with it', async (t) => {
  const { near, heard, messages } = open(t)
  let collected = ['x', 'y']
  near.beforeFlush = () => {
    for (const words of collected) near.send('said', words, undefined)
    collected = []
  }
  near.schedule()
  await near.ask('doubled', 1)
  t.same([heard.slice(0, 3), messages()], [[1, ['x', undefined], ['y', undefined]], 1])
  collected = ['z']
  near.flush()
  near.flush()
  t.equal(await near.ask('doubled', 2), 4)
  t.same(heard.slice(4), [['z', undefined], 2, 'back 2'])
  t.equal(messages(), 3, 'and none goes without anything to tell')
})

t.test('questions fail if the other side ends while they wait, and later ones at once', async (t) => {
  const { near } = open(t)
  const asked = near.ask('never')
  await near.ask('doubled', 1)
  near.end()
  const failure = { code: 14, message: 'the other thread has ended' }
  await t.rejects(asked, failure)
  await t.rejects(near.ask('doubled', 1), failure)
  t.equal(near.hasEnded, true)
})

/** Compiled, and not run. */
const refused = async (channel: ThreadChannel<Heard>): Promise<void> => {
  // @ts-expect-error: nobody hears it
  channel.send('unheard')
  // @ts-expect-error: another value
  channel.send('said', 1, 2)
  // @ts-expect-error: a value is missing
  channel.send('said', 'a')
  // @ts-expect-error: a question, whose answer would be lost
  channel.send('doubled', 1)
  // @ts-expect-error: an event has no answer
  await channel.ask('other')
  // @ts-expect-error: another answer
  const answer: string = await channel.ask('doubled', 1)
  const part: ThreadChannel<Pick<Heard, 'other'>> = channel
  // @ts-expect-error: not of this part
  part.send('said', answer, 1)
  // @ts-expect-error: more than the channel has
  const more: ThreadChannel<Heard & { more(): void }> = channel
  // @ts-expect-error: a handler is missing
  more.hear<Pick<Heard, 'other' | 'said'>>({ other: () => {} })
  // @ts-expect-error: nobody says it
  more.hear<Pick<Heard, 'other'>>({ other: () => {}, unsaid: () => {} })
  // @ts-expect-error: no table is named
  more.hear({ other: () => {} })
}

t.test('the compiler refuses what the table of the other side has not', async (t) => {
  t.type(refused, 'function')
})
