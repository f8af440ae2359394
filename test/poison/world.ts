import { createHash } from 'node:crypto'
import { request } from 'node:http'
import type { Test } from 'tap'
import { codec, type Input } from '../../src/proto/codec.js'
import { events } from '../builds/harness.js'
import { type PagesServer, startPages } from '../pages/harness.js'
import { bearer } from '../security/server.js'
import { collect } from '../server/client.js'
import { AC, type BuiltAction, buildAction, EXECUTION, FakeWorker, responseOf } from '../service/execution-harness.js'
import { CAS, wire } from '../service/harness.js'

export const POISON = 'POISON'
const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')
const ALL = ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute', 'push']
const token = (name: string) => ({ name, sha256: sha256(name) })

/** The branch has every permission of a caller in the instance, and `work`. */
export const SECURITY = {
  identity: { tokens: ['ci', 'branch', 'other', 'boss', 'w'].map(token) },
  access: [
    { names: ['ci', 'branch', 'other'], may: ALL, instances: ['main'] },
    { names: ['boss'], may: ['administer', 'read_ac', 'read_cas'] },
    { names: ['w', 'branch'], may: ['work'] },
  ],
  scopes: { rules: [{ names: ['branch', 'other'], scope: 'refs/pull/{name}' }] },
  callers_in_results: 'readers',
}

export const KINDS = ['ccache', 'gradle', 'turborepo', 'nx', 'webdav', 'go', 'maven', 'opaque'] as const
export type Kind = (typeof KINDS)[number]

/** The path of a key below the mount of its kind. */
export const pathOf = (kind: Kind, key: string, body = ''): { readonly get: string; readonly put: string } => {
  const hex = sha256(key)
  const same = (path: string) => ({ get: `/${kind}/${path}`, put: `/${kind}/${path}` })
  switch (kind) {
    case 'ccache':
      return same(hex.slice(0, 40))
    case 'gradle':
      return same(hex.slice(0, 32))
    case 'turborepo':
      return same(`v8/artifacts/${hex.slice(0, 16)}`)
    case 'nx':
      return same(`v1/cache/${BigInt(`0x${hex.slice(0, 12)}`)}`)
    case 'go':
      return { get: `/go/action/${hex}`, put: `/go/${hex}/${sha256(body)}` }
    case 'maven':
      return same(`v1/g/a/${hex.slice(0, 16)}/buildinfo.xml`)
    default:
      return same(`some/${hex.slice(0, 20)}`)
  }
}

export interface Told {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

export interface Sent {
  readonly body?: Buffer | string
  readonly headers?: Readonly<Record<string, string>>
  /** Without a length. */
  readonly isChunked?: boolean
}

/** A caller of an assembled server. */
export class Caller {
  readonly name: string
  readonly #server: PagesServer

  constructor(name: string, server: PagesServer) {
    this.name = name
    this.#server = server
  }

  unary(method: string, message: object | Buffer, more: Readonly<Record<string, string | Buffer>> = {}) {
    const metadata = bearer(this.name)
    for (const [name, value] of Object.entries(more)) metadata.set(name, value)
    return this.#server.client.unary(method, message, { metadata }).response
  }

  /** The code of what fails. */
  async tried(work: Promise<unknown>): Promise<string> {
    return work.then(
      () => 'done',
      ({ code }: { code?: number }) => `code ${code}`,
    )
  }

  async stream(method: string, message: object): Promise<ReturnType<typeof responseOf> | undefined> {
    const { messages } = await collect(
      this.#server.client.serverStream(method, message, { metadata: bearer(this.name) }),
    )
    const last = messages.at(-1)
    return last === undefined ? undefined : responseOf(last)
  }

  write(messages: readonly object[]) {
    const { call, response } = this.#server.client.clientStream('google.bytestream.ByteStream/Write', {
      metadata: bearer(this.name),
    })
    for (const message of messages) call.write(message)
    call.end()
    return response
  }

  publish(method: string, messages: readonly Buffer[]) {
    const path = `/google.devtools.build.v1.PublishBuildEvent/${method}`
    const call = this.#server.client.client.makeBidiStreamRequest(
      path,
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      bearer(this.name),
    )
    for (const message of messages) call.write(message)
    call.end()
    return collect(call as never)
  }

  http(method: string, path: string, { body, headers = {}, isChunked = false }: Sent = {}): Promise<Told> {
    const bytes = Buffer.from(body ?? '')
    const length = isChunked || body === undefined ? {} : { 'content-length': String(bytes.length) }
    const all = { authorization: `Bearer ${this.name}`, ...length, ...headers }
    return new Promise((resolve, reject) => {
      const sent = request(this.#server.origin, { method, path, headers: all }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.once('error', reject)
        answer.once('end', () => {
          const { date: _, ...kept } = answer.headers
          resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString(), headers: kept })
        })
      })
      sent.once('error', reject)
      if (body !== undefined) sent.write(bytes)
      sent.end()
    })
  }
}

export interface World extends PagesServer {
  readonly ci: Caller
  readonly branch: Caller
  readonly boss: Caller
  readonly worker: (hello?: object, who?: string) => Promise<FakeWorker>
}

/** A whole server: both protocols, every HTTP cache, assets, build events, pages, execution, admin. */
export const startWorld = async (t: Test): Promise<World> => {
  const kinds = ['bazel', ...KINDS]
  const http_cache = Object.fromEntries(kinds.map((kind) => [`/${kind}`, { kind, instance_name: 'main' }]))
  const server = await startPages(t, { security: SECURITY, services: { http_cache, admin: {} } })
  const [ci, branch, boss] = ['ci', 'branch', 'boss'].map((name) => new Caller(name, server))
  if (!ci || !branch || !boss) throw new Error('nobody')
  const worker = (hello: object = {}, who = 'w') =>
    new FakeWorker(server.client, server.clock, bearer(who)).hello(hello)
  return { ...server, ci, branch, boss, worker }
}

export const about = ({ digest }: BuiltAction) => ({ instanceName: 'main', actionDigest: wire(digest) })

export const actionOf = (name: string, more: Parameters<typeof buildAction>[0] = {}): BuiltAction =>
  buildAction({ ...more, command: { arguments: [name], outputPaths: ['out'], ...more.command } })

export const upload = (caller: Caller, { action, command, root }: BuiltAction) => {
  const requests = [action, command, root].map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes }))
  return caller.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: 'main', requests })
}

export const give = (caller: Caller, built: BuiltAction, text: string, more: object = {}) =>
  caller.unary(`${AC}/UpdateActionResult`, {
    ...about(built),
    actionResult: { stdoutRaw: Buffer.from(text) },
    ...more,
  })

export const execute = async (caller: Caller, built: BuiltAction, more: object = {}): Promise<string> => {
  const response = await caller.stream(`${EXECUTION}/Execute`, { ...about(built), ...more })
  return response?.result?.stdoutRaw.toString() ?? `status ${response?.status?.code}`
}

export const toolEvents = codec('remexec.builds.v1.ToolEvent')
export const lifecycleEvents = codec('google.devtools.build.v1.PublishLifecycleEventRequest')

/** A request of the stream of build events. */
export const toolEvent = (invocationId: string, sequenceNumber: number, event: Buffer): Buffer =>
  toolEvents.encode({
    projectId: 'main',
    orderedBuildEvent: { streamId: { buildId: 'b', invocationId, component: 3 }, sequenceNumber, event },
  } as Input<'remexec.builds.v1.ToolEvent'>)

export { events }
