import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { sendableFields } from '../../src/log/sendable.js'

t.test('fields of any type can be sent, and say what they said', async (t) => {
  const error = new Error('outer', { cause: new TypeError('inner') })
  const date = new Date(0)
  const fields = sendableFields({
    ...{ text: 'a', number: 1, bigint: 2n, none: null, absent: undefined, is: true },
    ...{ error, date, list: [1, { deep: date }], bytes: Buffer.from('b'), run: () => 'it', mark: Symbol('m') },
  })
  const { port1, port2 } = new MessageChannel()
  const got = new Promise((resolve) => port2.once('message', resolve))
  port1.postMessage(fields)
  t.match(await got, {
    ...{ text: 'a', number: 1, bigint: 2n, none: null, absent: undefined, is: true },
    ...{ error: /^TypeError: inner\n/, date: date.toISOString(), list: [1, { deep: date.toISOString() }] },
    ...{ run: /=> 'it'|=> "it"/, mark: 'Symbol(m)' },
  })
  port1.close()
})
