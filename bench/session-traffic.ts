import { Content } from '../conformance/session/content.js'
import { digestText, fromJson, type Json } from '../conformance/session/json-form.js'
import { readSession, type Session, type SessionCall, sessionsFolder } from '../conformance/session/session.js'
import { recordedWrite, requestsOf } from '../conformance/session/uploads.js'
import { codec } from '../src/proto/codec.js'
import { serviceDefinition } from '../src/proto/service-definition.js'
import { checkOperation } from './cases/true.js'
import { digestOf, store, write } from './content.js'
import { Connection, type Prepared, prepare } from './load/connection.js'
import { type LoadResult, type Request, sentBytes, unframed } from './load/request.js'
import type { Server } from './server/process.js'

/** One client's run of a session, encoded, with blobs that are new to the server. */
interface Traffic {
  readonly calls: readonly { readonly id: number; readonly after: readonly number[]; readonly prepared: Prepared }[]
  /** What the actions of the session make. */
  readonly outputs: readonly Buffer[]
}

export const recordedSession = (name: string): Session => readSession(`${sessionsFolder}${name}`)

const REAPI = 'build.bazel.remote.execution.v2'
const capabilitiesCodec = codec(`${REAPI}.ServerCapabilities`)
/** Sessions name outputs in the way of this version. */
const capabilities = capabilitiesCodec.decode(capabilitiesCodec.encode({ highApiVersion: { major: 2, minor: 3 } }))

export const trafficOf = (session: Session, { instanceName }: Pick<Server, 'instanceName'>): Traffic => {
  const content = new Content(session, { properties: [], instanceName, capabilities })
  // What an action makes is known before it runs, so that everything can be encoded before the clock starts.
  const outputs = Object.keys(session.expected).flatMap((recorded) => {
    const bytes = content.expectedBytes(recorded)
    if (bytes === undefined) return []
    content.bind(recorded, digestText(digestOf(bytes)))
    return [bytes]
  })
  const calls = session.calls.map((call) => {
    const metadata = content.mapped({ ...session.metadata, ...call.metadata })
    const headers = { [METADATA]: metadataCodec.encode(fromJson(metadata) as object).toString('base64') }
    return { id: call.id, after: call.after, prepared: prepare({ ...requestOf(call, content, instanceName), headers }) }
  })
  return { calls, outputs }
}

const METADATA = `${REAPI}.requestmetadata-bin`.toLowerCase()
const metadataCodec = codec(`${REAPI}.RequestMetadata`)

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

export interface ReplayOptions {
  readonly sessions: number
  readonly clients: number
  /** Puts what the actions would make in place before, for a worker that makes nothing. */
  readonly storesOutputs?: boolean
}

interface Seen {
  readonly latenciesMs: number[]
  readonly executions: Buffer[]
  received: number
}

/**
 * Runs `sessions` sessions at `clients` clients with a connection each. A call waits for those its client waited for.
 * Everything is sent that was recorded, whatever the server says it has.
 */
export const replay = async (
  session: Session,
  server: Server,
  { sessions, clients, storesOutputs = false }: ReplayOptions,
  ready: () => Promise<void>,
): Promise<LoadResult> => {
  const queue = Array.from({ length: sessions }, () => trafficOf(session, server))
  const sent = sentBytes(queue.flatMap(({ calls }) => calls.map(({ prepared }) => prepared.request)))
  if (storesOutputs)
    await store(
      server,
      queue.flatMap(({ outputs }) => outputs),
    )
  const connections = await Promise.all(Array.from({ length: clients }, () => Connection.open(server)))
  const seen: Seen = { latenciesMs: [], executions: [], received: 0 }
  const client = async (connection: Connection): Promise<void> => {
    for (let traffic = queue.pop(); traffic !== undefined; traffic = queue.pop()) {
      await perform(traffic, connection, seen)
    }
  }
  try {
    await ready()
    const startMs = performance.now()
    await Promise.all(connections.map(client))
    const seconds = (performance.now() - startMs) / 1000
    for (const bytes of seen.executions) for (const message of unframed(bytes)) checkOperation(message)
    const wireBytes = { sent: sent / sessions, received: seen.received / sessions }
    return { seconds, requests: sessions, latenciesMs: seen.latenciesMs, wireBytes }
  } finally {
    for (const connection of connections) connection.close()
  }
}

const perform = async ({ calls }: Traffic, connection: Connection, seen: Seen): Promise<void> => {
  const done = new Map<number, Promise<void>>()
  for (const { id, after, prepared } of calls) {
    const before = Promise.all(after.map((earlier) => done.get(earlier)))
    const isExecution = prepared.request.path.endsWith('/Execute')
    const call = before.then(async () => {
      const { latencyMs, byteCount, bytes } = await connection.call(prepared, isExecution)
      seen.latenciesMs.push(latencyMs)
      seen.received += byteCount
      if (isExecution) seen.executions.push(bytes)
    })
    done.set(id, call)
  }
  await Promise.all(done.values())
}
