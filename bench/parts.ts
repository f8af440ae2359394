import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { memoryPlace, usualPlace } from './server/place.js'

/** Work that no server can leave out, for one request of a case. */
export interface Part {
  readonly name: 'hash' | 'receive' | 'send' | 'write' | 'append' | 'read'
  readonly bytes: number
  /** How often for one request. */
  readonly times: number
}

const LANES = 4
const CHUNK = Buffer.alloc(256 << 10, 7)
/** Shorter than this a clock of processes says little. */
const LEAST_BYTES = 256 << 20

const children: ChildProcess[] = []

const childAt = (index: number): ChildProcess => {
  const known = children[index]
  if (known !== undefined) return known
  const child = fork(new URL('server/part.mjs', import.meta.url), { execArgv: [] })
  child.unref()
  child.channel?.unref()
  children[index] = child
  return child
}

/** Microseconds of CPU that the child takes for what it is asked. */
const asked = async (index: number, work: object): Promise<number> => {
  const child = childAt(index)
  const folder = `${(memoryPlace ?? usualPlace).folder}/remexec-part-${process.pid}-${index}`
  child.channel?.ref()
  child.send({ ...work, folder, lanes: LANES })
  const [micros] = (await once(child, 'message')) as [number]
  child.channel?.unref()
  return micros
}

/**
 * CPU of one request's part in microseconds, by a process of its own (server/part.mjs). Repeats it until some bytes were moved. Meanwhile
 * another process works as hard, as the client of a server does: two processors that share a core are slower when both work.
 */
export const cpuMicrosOfPart = async ({ name, bytes, times }: Part): Promise<number> => {
  const count = Math.ceil(LEAST_BYTES / bytes)
  const peer = name === 'receive' ? await sending(count * bytes) : name === 'send' ? await draining() : undefined
  const work = { part: name, count, bytes, port: peer?.port }
  const [micros = Number.NaN] = await Promise.all([asked(0, work), ...(peer === undefined ? [asked(1, work)] : [])])
  peer?.close()
  return (micros / count) * times
}

const listening = async (serve: (socket: Socket) => void) => {
  const server = createServer(serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

/** Sends so many bytes over the connections that come. */
const sending = (totalBytes: number) => {
  let left = totalBytes
  return listening((socket) => {
    const go = (): void => {
      while (left > 0) {
        left -= CHUNK.length
        if (!socket.write(CHUNK)) return void socket.once('drain', go)
      }
      socket.end()
    }
    socket.resume()
    go()
  })
}

const draining = () => listening((socket) => void socket.on('end', () => socket.end()).resume())
