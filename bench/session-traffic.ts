import { Content } from '../conformance/session/content.js'
import { fromJson, type Json } from '../conformance/session/json-form.js'
import { readSession, type Session, type SessionCall, sessionsFolder } from '../conformance/session/session.js'
import { recordedWrite, requestsOf } from '../conformance/session/uploads.js'
import { codec } from '../src/proto/codec.js'
import { serviceDefinition } from '../src/proto/service-definition.js'
import { write } from './content.js'
import { Connection, type Prepared, prepare } from './load/connection.js'
import type { LoadResult, Request } from './load/request.js'
import type { Server } from './server/process.js'

/** One client's run of a session, encoded, with blobs nobody has sent before. */
type Traffic = readonly { readonly id: number; readonly after: readonly number[]; readonly prepared: Prepared }[]

export const recordedSession = (name: string): Session => readSession(`${sessionsFolder}${name}`)

const capabilitiesCodec = codec('build.bazel.remote.execution.v2.ServerCapabilities')
/** Sessions name outputs in the way of this version. */
const capabilities = capabilitiesCodec.decode(capabilitiesCodec.encode({ highApiVersion: { major: 2, minor: 3 } }))

const trafficOf = (session: Session, { instanceName }: Pick<Server, 'instanceName'>): Traffic => {
  const content = new Content(session, { properties: [], instanceName, capabilities })
  return session.calls.map((call) => ({
    id: call.id,
    after: call.after,
    prepared: prepare(requestOf(call, content, instanceName)),
  }))
}

const NOT_FOUND = 5

const requestOf = (call: SessionCall, content: Content, instanceName: string): Request => {
  const at = call.method.lastIndexOf('/')
  const name = call.method.slice(at + 1)
  if (name === 'Write') return write({ instanceName }, content.bytes(recordedWrite(call).digest))
  if (call.end.code !== 'OK' && call.end.code !== 'NOT_FOUND') throw new Error(`call ${call.id} ended ${call.end.code}`)
  const method = serviceDefinition(call.method.slice(0, at)).methods.find((candidate) => candidate.name === name)
  if (method === undefined) throw new Error(`no method ${call.method}`)
  const messages = requestsOf(call).map((form) => {
    const mapped = content.mapped(form) as { readonly [field: string]: Json }
    const message = fromJson('resourceName' in mapped ? mapped : { ...mapped, instanceName })
    return method.request.encode(message as object)
  })
  const shape = shapeOf(call, name)
  return {
    path: method.path,
    messages,
    ...(shape === undefined ? {} : { shape }),
    ...(call.end.code === 'NOT_FOUND' ? { code: NOT_FOUND } : {}),
  }
}

/** For the bare server: what was recorded as the answer. */
const shapeOf = ({ messages, end }: SessionCall, name: string): string | undefined => {
  if (end.code === 'NOT_FOUND') return 'absent'
  if (name !== 'FindMissingBlobs') return undefined
  const count = (direction: string, field: string): number =>
    messages
      .filter(([from]) => from === direction)
      .flatMap(([, , form]) => (form as { readonly [field: string]: readonly Json[] })[field] ?? []).length
  const missing = count('<', 'missingBlobDigests')
  if (missing === 0) return 'present'
  return missing === count('>', 'blobDigests') ? 'absent' : 'half'
}

/** So many sessions at so many clients, each with a connection of its own; a call waits for those the client waited for. */
export const replay = async (
  session: Session,
  server: Server,
  { sessions, clients }: { readonly sessions: number; readonly clients: number },
): Promise<LoadResult> => {
  const queue = Array.from({ length: sessions }, () => trafficOf(session, server))
  const connections = await Promise.all(Array.from({ length: clients }, () => Connection.open(server.address)))
  const latenciesMs: number[] = []
  const client = async (connection: Connection): Promise<void> => {
    for (let traffic = queue.pop(); traffic !== undefined; traffic = queue.pop()) {
      await perform(traffic, connection, latenciesMs)
    }
  }
  try {
    const startMs = performance.now()
    await Promise.all(connections.map(client))
    return { seconds: (performance.now() - startMs) / 1000, requests: sessions, latenciesMs }
  } finally {
    for (const connection of connections) connection.close()
  }
}

const perform = async (traffic: Traffic, connection: Connection, latenciesMs: number[]): Promise<void> => {
  const done = new Map<number, Promise<void>>()
  for (const { id, after, prepared } of traffic) {
    const before = Promise.all(after.map((earlier) => done.get(earlier)))
    const call = before.then(async () => {
      const { latencyMs } = await connection.call(prepared)
      latenciesMs.push(latencyMs)
    })
    done.set(id, call)
  }
  await Promise.all(done.values())
}
