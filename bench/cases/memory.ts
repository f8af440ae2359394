import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Client, type ClientReadableStream, credentials } from '@grpc/grpc-js'
import { codec } from '../../src/proto/codec.js'
import { ZstdCompress, ZstdDecompress, zstdCompress } from '../../src/stream/compression/zstd.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { MIB, text } from '../content.js'
import { filesystemCache, lz4Cache, zstdCache } from '../server/config.js'
import { type ServerProcess, startRemexec } from '../server/process.js'

const writeRequest = codec('google.bytestream.WriteRequest')
const readRequest = codec('google.bytestream.ReadRequest')
const readResponse = codec('google.bytestream.ReadResponse')
const pass = (bytes: Buffer): Buffer => bytes

type Content = { readonly hash: string; readonly sizeBytes: number; chunk(index: number): Buffer }

/** A blob too large to hold: one MiB, half text and half random, with an index at the start of each repetition. */
const repeating = (sizeMib: number): Content => {
  const base = Buffer.concat([text(MIB / 2), randomBytes(MIB / 2)])
  const chunk = (index: number): Buffer => {
    const bytes = Buffer.from(base)
    bytes.writeUInt32BE(index)
    return bytes
  }
  const hash = createHash('sha256')
  for (let index = 0; index < sizeMib; index++) hash.update(chunk(index))
  return { hash: hash.digest('hex'), sizeBytes: sizeMib * MIB, chunk }
}

const connect = (server: ServerProcess): Client =>
  new Client(server.address, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 })

function* chunks({ sizeBytes, chunk }: Content): Generator<Buffer> {
  for (let index = 0; index < sizeBytes / MIB; index++) yield chunk(index)
}

function* compressedChunks(content: Content): Generator<Buffer> {
  for (const chunk of chunks(content)) yield zstdCompress(chunk)
}

/** The form of an upload: identity, or zstd in one frame or in many. */
const wires = {
  identity: chunks,
  'zstd in one frame': (content: Content) => Readable.from(chunks(content)).pipe(new ZstdCompress()),
  'zstd in frames of 1 MiB': compressedChunks,
} as const

type Wire = keyof typeof wires

const folder = (wire: Wire): string => (wire === 'identity' ? 'blobs' : 'compressed-blobs/zstd')

const upload = async (client: Client, content: Content, wire: Wire = 'identity'): Promise<void> => {
  let settle: (error: Error | null) => void = () => {}
  const answered = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === null ? resolve() : reject(error))
  })
  const call = client.makeClientStreamRequest('/google.bytestream.ByteStream/Write', pass, pass, (e) => settle(e))
  const resourceName = `uploads/${randomUUID()}/${folder(wire)}/${content.hash}/${content.sizeBytes}`
  const send = async (): Promise<void> => {
    let writeOffset = 0
    for await (const data of wires[wire](content)) {
      const hasRoom = call.write(writeRequest.encode({ resourceName, writeOffset, data }))
      writeOffset += data.length
      if (!hasRoom) await once(call, 'drain')
    }
    call.write(writeRequest.encode({ resourceName, writeOffset, finishWrite: true }))
    call.end()
  }
  // A rejected upload is answered before all is sent.
  await Promise.race([answered, send().then(() => answered)])
}

const openRead = (client: Client, content: Content, wire: Wire = 'identity'): ClientReadableStream<Buffer> =>
  client.makeServerStreamRequest(
    '/google.bytestream.ByteStream/Read',
    pass,
    pass,
    readRequest.encode({ resourceName: `${folder(wire)}/${content.hash}/${content.sizeBytes}` }),
  )

const download = async (client: Client, content: Content, wire: Wire): Promise<void> => {
  const hash = createHash('sha256')
  const call = openRead(client, content, wire)
  const data = Readable.from(call.map((message: Buffer) => readResponse.decode(message).data))
  await (wire === 'identity' ? pipeline(data, hash) : pipeline(data, new ZstdDecompress(), hash))
  if (hash.digest('hex') !== content.hash) throw new Error('wrong bytes came')
}

/** Opens every blob, reads the first message and stops; keeps all of them open for a while. */
const stall = async (client: Client, content: Content, readers: number): Promise<void> => {
  const calls = Array.from({ length: readers }, () => openRead(client, content))
  const firsts = calls.map(
    (call) =>
      new Promise<void>((resolve, reject) => {
        call.once('data', () => {
          call.pause()
          resolve()
        })
        call.on('error', reject)
      }),
  )
  await Promise.all(firsts)
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  for (const call of calls) {
    call.removeAllListeners('error')
    call.on('error', () => {})
    call.cancel()
  }
}

/** Growth of the server's peak memory. */
const watched = async (server: ServerProcess, work: () => Promise<void>): Promise<number> => {
  const before = server.residentBytes()
  await server.begin()
  await work()
  const { peakResidentBytes } = await server.end()
  return (peakResidentBytes - before) / MIB
}

/** Each case starts its own server, so that memory left by one does not count for another. */
const grown = async (
  configure: (dataPath: string) => object,
  { cli, profileFolder }: Builds,
  work: (client: Client, server: ServerProcess) => Promise<number>,
): Promise<Observation> => {
  const server = await startRemexec(configure, { cli, profileFolder })
  const client = connect(server)
  try {
    return { name: 'resident memory grew by', unit: 'MiB', values: [await work(client, server)] }
  } finally {
    client.close()
    await server.stop()
  }
}

const inAndOut = (name: string, configure: (dataPath: string) => object, wire: Wire = 'identity'): EventCase => ({
  kind: 'event',
  name: `gigabytes in and out through ${name}`,
  async *observe(builds) {
    const content = repeating(builds.isQuick ? 512 : 2048)
    yield grown(configure, builds, (client, server) =>
      watched(server, async () => {
        await upload(client, content, wire)
        await download(client, content, wire)
      }),
    )
  },
})

const stalledReaders = (readers: number, sizeMib: number): EventCase => ({
  kind: 'event',
  name: `${readers} stalled readers of a ${sizeMib} MiB blob`,
  async *observe(builds) {
    const content = repeating(sizeMib)
    yield grown(filesystemCache, builds, async (client, server) => {
      await upload(client, content)
      return watched(server, () => stall(client, content, readers))
    })
  },
})

/** Whether memory stays bounded where bytes could accumulate. Reads and writes move 2 GiB, 512 MiB in a quick run. */
export const memoryCases = (): readonly EventCase[] => [
  inAndOut('filesystem', filesystemCache),
  inAndOut('lz4 over filesystem', lz4Cache),
  inAndOut('zstd over filesystem', zstdCache),
  inAndOut('zstd over filesystem as zstd in one frame', zstdCache, 'zstd in one frame'),
  inAndOut('zstd over filesystem as zstd in frames of 1 MiB', zstdCache, 'zstd in frames of 1 MiB'),
  stalledReaders(100, 100),
]
