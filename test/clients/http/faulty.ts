import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** A status, or what else a server and the network do to a client. */
export type Fault = (typeof FAULTS)[number]
export const FAULTS = [401, 403, 404, 409, 413, 500, 'refused', 'garbage', 'truncated', 'slow'] as const
export type Half = 'reads' | 'writes'

const SLOW_MS = 1_000
const GARBAGE = Buffer.alloc(1000, 'garbage ')

export interface Faulty {
  /** Where clients go to meet this fault in requests of this half. Those of the other half are answered, downloads with 404. */
  meet(half: Half, fault: Fault): string
  /** Where clients go to meet none. */
  readonly url: string
  /** Faults that clients met since the last call. */
  met(): number
}

/** A proxy in front of a server, which answers some requests in its place. */
export const faultyBefore = async (t: Test, origin: string): Promise<Faulty> => {
  const agent = new Agent({ keepAlive: true })
  let [half, fault]: [Half, Fault | undefined] = ['reads', undefined]
  let met = 0
  const server = createServer((asked, answer) => {
    asked.on('error', () => {})
    answer.on('error', () => {})
    if (fault === undefined) forward(origin, agent, asked, answer, 'whole')
    else if (halfOf(asked) === half) {
      met += 1
      answerWith(fault, half, asked, answer, (how) => forward(origin, agent, asked, answer, how))
    } else if (asked.method === 'GET' && half === 'writes' && !asked.url?.endsWith('/status'))
      refuse(404, asked, answer)
    else forward(origin, agent, asked, answer, 'whole')
  })
  // Maven asks before it sends a body.
  server.on('checkContinue', (asked, answer) => {
    answer.writeContinue()
    server.emit('request', asked, answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    agent.destroy()
    server.closeAllConnections()
    server.close()
  })
  const { pathname } = new URL(origin)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const nobody = `http://127.0.0.1:${(closed.address() as AddressInfo).port}${pathname}`
  await new Promise((resolve) => closed.close(resolve))
  return {
    url,
    meet: (inHalf, thisFault) => {
      ;[half, fault] = [inHalf, thisFault]
      return fault === 'refused' ? nobody : url
    },
    met: () => {
      const count = met
      met = 0
      return count
    },
  }
}

const halfOf = ({ method }: IncomingMessage): Half =>
  ['PUT', 'POST', 'DELETE', 'MKCOL'].includes(method ?? '') ? 'writes' : 'reads'

const answerWith = (
  fault: Fault,
  half: Half,
  asked: IncomingMessage,
  answer: ServerResponse,
  pass: (how: 'whole' | 'half') => void,
): void => {
  if (typeof fault === 'number') refuse(fault, asked, answer)
  // biome-ignore lint/plugin: a slow server is the fault
  else if (fault === 'slow') setTimeout(() => pass('whole'), SLOW_MS)
  else if (half === 'reads' && fault === 'truncated') pass('half')
  else if (half === 'reads') answer.writeHead(200, { 'content-length': GARBAGE.length }).end(GARBAGE)
  // A body that is cut off by the network, or an answer that is no HTTP.
  else if (fault === 'truncated')
    asked.once('data', () => asked.socket.destroy()).once('end', () => asked.socket.destroy())
  else asked.resume().once('end', () => asked.socket.end(GARBAGE))
}

const refuse = (status: number, asked: IncomingMessage, answer: ServerResponse): void => {
  const challenge = status === 401 ? { 'www-authenticate': 'Basic realm="test"' } : {}
  asked
    .resume()
    .once('end', () => answer.writeHead(status, { 'content-type': 'text/plain', ...challenge }).end('refused\n'))
}

const forward = (
  origin: string,
  agent: Agent,
  asked: IncomingMessage,
  answer: ServerResponse,
  how: 'whole' | 'half',
): void => {
  const { host } = new URL(origin)
  const headers = { ...asked.headers, host }
  delete headers.expect
  const onward = request(`http://${host}`, { agent, method: asked.method, path: asked.url, headers }, (answered) => {
    answer.writeHead(answered.statusCode ?? 0, answered.headers)
    if (how === 'whole' || answered.statusCode !== 200) {
      answered.pipe(answer)
      return
    }
    const pieces: Buffer[] = []
    answered.on('data', (piece: Buffer) => pieces.push(piece))
    answered.on('end', () => {
      const bytes = Buffer.concat(pieces)
      answer.write(bytes.subarray(0, bytes.length >> 1), () => asked.socket.destroy())
    })
  })
  onward.on('error', () => asked.socket.destroy())
  asked.pipe(onward)
}
