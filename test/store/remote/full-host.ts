/**
 * A host that accepts no more connections, like behind a firewall that drops packets: attempts neither succeed nor
 * fail.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { folderOf, type Scope, startBackend } from './backend.js'

const LISTEN = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
  console.log('port ' + this.address().port)
})`

/** Its port. The process behind it sleeps, and the kernel's queue, backlog plus one, is full. */
export const startFullHost = async (t: Scope): Promise<number> => {
  const said = /port (\d+)/
  const host = await startBackend(t, process.execPath, ['-e', LISTEN], said, { cwd: await folderOf(t) })
  const port = Number(said.exec(host.log())?.[1])
  host.pause()
  for (let taken = 0; taken < 2; taken++) {
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {})
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
  }
  return port
}
