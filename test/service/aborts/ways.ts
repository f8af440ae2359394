import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { compressors } from '../../../src/reapi/compressor.js'
import { Digest } from '../../../src/reapi/digest.js'
import type { CacheKindName } from '../../../src/service/http-cache/kinds/kinds.js'
import { zstdCompress } from '../../../src/stream/compression/zstd.js'
import { drawnBytes } from '../../drawn.js'
import type { TestClient } from '../../server/client.js'
import { messagesOf, openWrite, uploadName } from '../bytestream-client.js'
import { SHA256 } from '../harness.js'

/** A transfer in flight, which its client can give up. */
export interface Transfer {
  /** Resolves when it is over, whatever became of it. */
  readonly over: Promise<unknown>
  /** Resolves when the client has sent all that it sends. */
  readonly sent?: Promise<unknown>
  abort(): void
}

export interface Server {
  readonly port: number
  readonly client: TestClient
  readonly origin: Awaited<ReturnType<typeof openOrigin>>
  /** The key of an entry that is there, of the cache at `/opaque`. */
  readonly present: string
}

const SENT_BYTES = 700 * 1024
/** More than a buffer has room for. All but what Node buffers (16 KiB) has been read when the server waits for the disk: else it does not see that the client leaves. */
const SENT_HTTP_BYTES = 328 * 1024
const WHOLE_BYTES = 900 * 1024

export const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Sends most of a body and stays silent, or all of it if it is to be read by the server and then broken off. */
const rawHttp = ({ port }: Server, head: string, body: Buffer): Transfer => {
  const socket = connect(port, '127.0.0.1')
  const sent = new Promise<unknown>((resolve) =>
    socket.write(`${head}\r\nhost: x\r\n\r\n`, () => socket.write(body, resolve)),
  )
  socket.on('error', () => {}).on('data', () => {})
  return {
    over: new Promise((resolve) => socket.once('close', resolve)),
    sent,
    abort: () => socket.destroy(),
  }
}

const putting =
  (path: (bytes: Buffer) => string) =>
  (server: Server): Transfer => {
    const bytes = drawnBytes(WHOLE_BYTES)
    return rawHttp(
      server,
      `PUT ${path(bytes)} HTTP/1.1\r\ncontent-length: ${WHOLE_BYTES}`,
      bytes.subarray(0, SENT_HTTP_BYTES),
    )
  }

/** The path of an upload to a cache of each kind, below its mount. A kind without one does not compile. */
export const pathOf: Readonly<Record<CacheKindName, (bytes: Buffer) => string>> = {
  bazel: (bytes) => `/cas/${hashOf(bytes)}`,
  ccache: (bytes) => `/${hashOf(bytes).slice(0, 40)}`,
  go: (bytes) => `/${'0'.repeat(64)}/${hashOf(bytes)}`,
  gradle: (bytes) => `/${hashOf(bytes).slice(0, 32)}`,
  maven: (bytes) => `/v1/group/artifact/${hashOf(bytes)}/file`,
  nx: (bytes) => `/v1/cache/${BigInt(`0x${hashOf(bytes).slice(0, 15)}`)}`,
  opaque: (bytes) => `/${hashOf(bytes)}`,
  turborepo: (bytes) => `/v8/artifacts/${hashOf(bytes).slice(0, 16)}`,
  webdav: (bytes) => `/${hashOf(bytes)}`,
}

const ofCall = ({ response, cancel }: { readonly response: Promise<unknown>; cancel(): void }): Transfer => ({
  over: response.catch(() => {}),
  abort: cancel,
})

const writing = (server: Server, isCompressed: boolean): Transfer => {
  const bytes = drawnBytes(WHOLE_BYTES)
  const digest = Digest.of(bytes, SHA256)
  const compressor = isCompressed ? compressors.find(({ name }) => name === 'ZSTD') : undefined
  const name = uploadName(digest, { instanceName: 'main', ...(compressor && { compressor }) })
  const sent = (isCompressed ? zstdCompress(bytes) : bytes).subarray(0, SENT_BYTES)
  const { send, cancel, response } = openWrite(server.client)
  const messages = messagesOf(name, sent).map((message) => send({ ...message, finishWrite: false }))
  return { ...ofCall({ response, cancel }), sent: Promise.all(messages) }
}

const CAS = 'build.bazel.remote.execution.v2.ContentAddressableStorage'
const FETCH = 'build.bazel.remote.asset.v1.Fetch'

const wire = (bytes: Buffer) => ({ hash: hashOf(bytes), sizeBytes: bytes.length })

/** Blobs that are there, for calls that read them. */
export const split = drawnBytes(1024 * 1024)

/** An origin of assets, which sends most of a file and then nothing. */
export const openOrigin = async () => {
  const origin = createServer((_, response) => {
    response.writeHead(200, { 'content-length': WHOLE_BYTES }).write(drawnBytes(SENT_BYTES))
  })
  origin.listen(0, '127.0.0.1')
  await once(origin, 'listening')
  const { port } = origin.address() as AddressInfo
  return { port, breakOff: () => origin.closeAllConnections(), close: () => origin.close() }
}

/** The origin fails, and then the client leaves. */
const downloading = ({ client, origin }: Server): Transfer => {
  const uris = [`http://127.0.0.1:${origin.port}/${drawnBytes(8).toString('hex')}`]
  const { over, abort } = ofCall(client.unary(`${FETCH}/FetchBlob`, { instanceName: 'main', uris }))
  return {
    over,
    abort: () => {
      origin.breakOff()
      abort()
    },
  }
}

/** All ways in, and those out that lend buffers. */
export const ways: Readonly<Record<string, (server: Server) => Transfer>> = {
  ...Object.fromEntries(
    Object.entries(pathOf).map(([kind, path]) => [`a PUT of ${kind}`, putting((bytes) => `/${kind}${path(bytes)}`)]),
  ),
  'a PUT without a length': (server) => {
    const body = drawnBytes(SENT_HTTP_BYTES)
    const chunk = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')])
    return rawHttp(server, `PUT /opaque/${hashOf(body)} HTTP/1.1\r\ntransfer-encoding: chunked`, chunk)
  },
  'a GET': (server) => rawHttp(server, `GET /opaque/${server.present} HTTP/1.1`, Buffer.alloc(0)),
  'a Write': (server) => writing(server, false),
  'a compressed Write': (server) => writing(server, true),
  'a Read': ({ client }) => {
    const call = client.serverStream('google.bytestream.ByteStream/Read', {
      resourceName: `main/blobs/${hashOf(split)}/${split.length}`,
    })
    call.on('data', () => {}).on('error', () => {})
    return { over: new Promise((resolve) => call.once('close', resolve)), abort: () => call.cancel() }
  },
  'a BatchUpdateBlobs': ({ client }) => {
    const requests = [1000, 100_000, 400_000].map((length) => {
      const data = drawnBytes(length)
      return { digest: wire(data), data }
    })
    return ofCall(client.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: 'main', requests }))
  },
  'a SplitBlob': ({ client }) =>
    ofCall(client.unary(`${CAS}/SplitBlob`, { instanceName: 'main', blobDigest: wire(split) })),
  'a FetchBlob': downloading,
}

export const isHttp = (way: string): boolean => /^a (PUT|GET)/.test(way)
