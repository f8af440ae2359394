import { createHash, randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { MIB } from '../../content.js'
import type { Act } from '../act.js'
import { MOUNTS } from '../config.js'
import { answerOf, ask, begin, closed, type HttpCall, rest } from '../http.js'
import { blobOfUpTo, large } from '../requests.js'

type Kind = keyof typeof MOUNTS

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const key = (byteCount: number): string => randomBytes(byteCount).toString('hex')

/** How a client of each kind stores this content under a new key, and asks for it again. */
const entryOf: Readonly<Record<Kind, (body: Buffer) => { readonly put: string; readonly get: string }>> = {
  bazel: (body) => same(`/cas/${sha256(body)}`),
  ccache: () => same(`/ccache/${key(20)}`),
  webdav: () => same(`/sccache/a/b/${key(32)}`),
  turborepo: () => same(`/turbo/v8/artifacts/${key(8)}?slug=team`),
  nx: () => same(`/nx/v1/cache/${randomInt(2 ** 40)}`),
  gradle: () => same(`/gradle/${key(16)}`),
  maven: () => same(`/maven/v1/group/artifact/${key(8)}/file.jar`),
  go: (body) => {
    const [action, output] = [key(32), sha256(body)]
    return { put: `/go/${action}/${output}`, get: `/go/output/${output}` }
  },
  opaque: () => same(`/files/${key(16)}`),
}
const same = (path: string): { readonly put: string; readonly get: string } => ({ put: path, get: path })
const kinds = Object.keys(MOUNTS) as Kind[]

const NOT_FOUND = 404

const demand = (call: HttpCall, status: number): void => {
  if (status < 200 || status > 299) throw new Error(`${call.method} ${call.path} was answered ${status}`)
}

const put = async (port: number, path: string, body: Buffer): Promise<void> => {
  const call = { method: 'PUT', path, body, headers: { 'content-length': String(body.length) } }
  demand(call, (await ask(port, call)).status)
}

const storeAndGet = (kind: Kind): Act => ({
  name: `HTTP ${kind}: store and get`,
  clients: 1,
  perform: async (_, port) => {
    const body = blobOfUpTo(MIB)
    const { put: path, get } = entryOf[kind](body)
    await put(port, path, body)
    const { status, body: found } = await ask(port, { method: 'GET', path: get })
    if (status === NOT_FOUND) return // evicted meanwhile
    if (status !== 200 || !found.equals(body)) throw new Error(`GET ${get}: ${status} and other bytes than were stored`)
  },
})

/** An upload whose client leaves in the middle of its body. */
const cutUpload = (kind: Kind): Act => ({
  name: `HTTP ${kind}: connection cut in an upload`,
  clients: 1,
  perform: async (_, port) => {
    const body = blobOfUpTo(4 * MIB)
    const sent = begin(port, {
      method: 'PUT',
      path: entryOf[kind](body).put,
      headers: { 'content-length': String(body.length) },
    })
    const gone = closed(sent)
    if (!sent.write(body.subarray(0, body.length >> 1))) await Promise.race([once(sent, 'drain').catch(() => {}), gone])
    sent.destroy()
    await gone
  },
})

const LARGE = `/cas/${large.digest.hash}`
const STALL_MS = [2000, 20_000] as const

/** A GET of the large blob, of which only the head was read. */
const largeGet = async (port: number): Promise<Awaited<ReturnType<typeof answerOf>>> => {
  const { status } = await ask(port, { method: 'HEAD', path: LARGE })
  if (status === NOT_FOUND) await put(port, LARGE, large.bytes)
  const sent = begin(port, { method: 'GET', path: LARGE })
  const answered = answerOf(sent)
  sent.end()
  return answered
}

const PIPELINED = 200

export const httpActs: readonly Act[] = [
  ...kinds.map(storeAndGet),
  ...kinds.map(cutUpload),
  {
    name: 'HTTP stalled reader that reads on',
    clients: 4,
    perform: async (_, port) => {
      const answer = await largeGet(port)
      await setTimeout(randomInt(...STALL_MS))
      const body = await rest(answer)
      if (answer.statusCode === 200 && !body.equals(large.bytes))
        throw new Error(`${body.length} wrong bytes of ${LARGE}`)
    },
  },
  {
    name: 'HTTP stalled reader that leaves',
    clients: 4,
    perform: async (_, port) => {
      const answer = await largeGet(port)
      await setTimeout(randomInt(...STALL_MS))
      answer.destroy()
    },
  },
  {
    name: 'HTTP pipelined requests that nobody waits for',
    clients: 1,
    perform: async (_, port) => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(`GET ${LARGE} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(PIPELINED))
      await Promise.race([once(socket, 'readable'), once(socket, 'close')]).catch(() => {})
      socket.destroy()
    },
  },
  {
    name: 'HTTP compressed upload that is left half-open',
    clients: 1,
    perform: async (_, port) => {
      const sent = begin(port, {
        method: 'PUT',
        path: `/cas/${key(32)}`,
        headers: { 'content-encoding': 'zstd', 'transfer-encoding': 'chunked' },
      })
      const gone = closed(sent)
      // The head of a frame with a window of 8 MiB and no content.
      sent.write(Buffer.from('28b52ffd0068', 'hex'))
      await Promise.race([setTimeout(randomInt(...STALL_MS)), gone])
      sent.destroy()
      await gone
    },
  },
]
