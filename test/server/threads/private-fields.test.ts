import { Socket } from 'node:net'
import t from 'tap'
import { checkPrivateFields } from '../../../src/server/threads/descriptor.js'

t.test('service threads do not start with a Node whose sockets have another inside', async (t) => {
  t.doesNotThrow(() => checkPrivateFields(), 'this one')
  const renamed = (): Socket =>
    Object.defineProperty(new Socket(), '_handle', { value: { descriptor: 7, close: () => {} }, writable: true })
  t.throws(() => checkPrivateFields(renamed), {
    message: /Node v.* has no _handle\.fd of a socket, which global\.threads needs: leave it out/,
  })
})
