import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { codec } from '../../../src/proto/codec.js'
import { PulledMessages } from '../../../src/server/call/request-messages.js'

const request = codec('google.bytestream.WriteRequest')

/** Messages, the number requested from the transport, and those released. */
const opened = () => {
  let asked = 0
  const released: number[] = []
  const messages = new PulledMessages({
    decode: (bytes) => request.decode(bytes),
    askForOne: () => void asked++,
  })
  const send = (writeOffset: number): void =>
    messages.message(request.encode({ writeOffset }), false, () => released.push(writeOffset))
  return { send, messages, asked: () => asked, released }
}

t.test('returns the messages in order and then the end', async (t) => {
  const { send, messages, released } = opened()
  for (const offset of [0, 10, 20]) {
    const next = messages.next()
    send(offset)
    const taken = await next
    t.equal(taken?.message.writeOffset, offset)
    taken?.release()
    t.equal(released.at(-1), offset, 'its memory goes back')
  }
  const end = messages.next()
  messages.halfClosed()
  t.equal(await end, undefined)
  t.equal(await messages.next(), undefined, 'later calls return the end too')
})

t.test('asks the transport only for messages that a caller waits for', async (t) => {
  const { send, messages, asked } = opened()
  t.equal(asked(), 0)
  const first = messages.next()
  t.equal(asked(), 1)
  send(0)
  await first
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  t.equal(asked(), 1)
})

t.test('rejects with the error of the call, before and during a wait, also after a half-close', async (t) => {
  const cancelled = new StatusError('CANCELLED', 'the client is gone')
  for (const isWaiting of [true, false]) {
    const { messages } = opened()
    const next = isWaiting ? messages.next() : undefined
    messages.halfClosed()
    messages.destroy(cancelled)
    await t.rejects(next ?? messages.next(), cancelled)
    await t.rejects(messages.next(), cancelled)
  }
})

t.test('a message that cannot be decoded rejects the pending call with INVALID_ARGUMENT', async (t) => {
  const { messages } = opened()
  const next = messages.next()
  messages.message(Buffer.of(0xff), false, () => {})
  await t.rejects(next, { code: 3 })
})
