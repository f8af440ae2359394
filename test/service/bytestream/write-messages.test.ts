import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { codec } from '../../../src/proto/codec.js'
import { RequestStream } from '../../../src/server/call/request-stream.js'
import { WriteMessages } from '../../../src/service/bytestream/write-messages.js'

const request = codec('google.bytestream.WriteRequest')

/** A stream of requests, and how many messages were asked of the transport. */
const opened = () => {
  let asked = 0
  const stream = new RequestStream(
    (bytes) => request.decode(bytes),
    () => void asked++,
  )
  const send = (writeOffset: number): void => stream.message(request.encode({ writeOffset }))
  return { stream, send, messages: new WriteMessages(stream), asked: () => asked }
}

t.test('gives message after message and then the end, however they come', async (t) => {
  for (const isEarly of [true, false]) {
    const { stream, send, messages } = opened()
    for (const offset of [0, 10, 20]) {
      if (isEarly) send(offset)
      const next = messages.next()
      if (!isEarly) {
        await setImmediate()
        send(offset)
      }
      t.equal((await next)?.writeOffset, offset)
    }
    const end = messages.next()
    stream.halfClosed()
    t.equal(await end, undefined)
    t.equal(await messages.next(), undefined, 'and stays at its end')
  }
})

t.test('asks the transport for no more than one message ahead', async (t) => {
  const { send, messages, asked } = opened()
  const first = messages.next()
  await setImmediate()
  t.equal(asked(), 1)
  send(0)
  await first
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  t.ok(asked() <= 2, `${asked()}`)
})

t.test('fails with what the stream was destroyed with, before and while it waits', async (t) => {
  const cancelled = new StatusError('CANCELLED', 'the client is gone')
  for (const isWaiting of [true, false]) {
    const { stream, send, messages } = opened()
    send(0)
    await messages.next()
    const next = isWaiting ? messages.next() : undefined
    stream.destroy(cancelled)
    await t.rejects(next ?? messages.next(), cancelled)
    await t.rejects(messages.next(), cancelled)
  }
})

t.test('a stream that closes before its end fails', async (t) => {
  const { stream, messages } = opened()
  const next = messages.next()
  stream.destroy()
  await t.rejects(next, /closed before its end/)
})
