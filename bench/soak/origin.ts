import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MIB } from '../content.js'

const content = randomBytes(MIB)
const DRIP_MS = 500

/**
 * Where assets come from. `/whole/NAME` is content that differs by name, `/cut/NAME` ends in the middle, `/slow/NAME` sends a few bytes
 * at a time until its client leaves.
 */
export const startOrigin = async (): Promise<number> => {
  const server = createServer((request, response) => {
    const [, how = '', name = ''] = (request.url ?? '').split('/')
    response.on('error', () => {})
    const length = name.length + content.length
    response.writeHead(200, { 'content-length': how === 'slow' ? 2 * length : length })
    response.write(name)
    if (how === 'whole') return void response.end(content)
    response.write(content.subarray(0, content.length >> 1))
    if (how === 'cut') return void setImmediate(() => response.destroy())
    const drip = setInterval(() => response.write('.'), DRIP_MS)
    response.once('close', () => clearInterval(drip))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  return (server.address() as AddressInfo).port
}
