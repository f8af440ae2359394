import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { Client, type ClientReadableStream, credentials } from '@grpc/grpc-js'
import { codec } from '../../src/proto/codec.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { filesystemCache, lz4Cache } from '../server/config.js'
import { type ServerProcess, startRemexec } from '../server/process.js'

const MIB = 1 << 20
const writeRequest = codec('google.bytestream.WriteRequest')
const readRequest = codec('google.bytestream.ReadRequest')
const readResponse = codec('google.bytestream.ReadResponse')
const pass = (bytes: Buffer): Buffer => bytes

type Content = { readonly hash: string; readonly sizeBytes: number; chunk(index: number): Buffer }

/** A blob too large to keep: one random MiB, told apart by its index at the start of each repetition. */
const repeating = (sizeMib: number): Content => {
  const base = randomBytes(MIB)
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

const upload = (client: Client, content: Content): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = client.makeClientStreamRequest('/google.bytestream.ByteStream/Write', pass, pass, (error) =>
      error === null ? resolve() : reject(error),
    )
    const resourceName = `uploads/${randomUUID()}/blobs/${content.hash}/${content.sizeBytes}`
    const count = content.sizeBytes / MIB
    let index = 0
    const pump = (): void => {
      while (index < count) {
        const writeOffset = index * MIB
        const data = content.chunk(index++)
        if (!call.write(writeRequest.encode({ resourceName, writeOffset, data, finishWrite: index === count }))) {
          call.once('drain', pump)
          return
        }
      }
      call.end()
    }
    pump()
  })

const openRead = (client: Client, content: Content): ClientReadableStream<Buffer> =>
  client.makeServerStreamRequest(
    '/google.bytestream.ByteStream/Read',
    pass,
    pass,
    readRequest.encode({ resourceName: `blobs/${content.hash}/${content.sizeBytes}` }),
  )

const download = (client: Client, content: Content): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = openRead(client, content)
    const hash = createHash('sha256')
    call.on('data', (bytes: Buffer) => void hash.update(readResponse.decode(bytes).data))
    call.once('error', reject)
    call.once('end', () => (hash.digest('hex') === content.hash ? resolve() : reject(new Error('wrong bytes came'))))
  })

/** Asks for every blob, reads the first message and stops; holds all of them open for a while. */
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

/** How much more memory the server held at its peak than before. */
const watched = async (server: ServerProcess, work: () => Promise<void>): Promise<number> => {
  const before = server.residentBytes()
  await server.begin()
  await work()
  const { peakResidentBytes } = await server.end()
  return (peakResidentBytes - before) / MIB
}

/** Each starts a server of its own, so that what one leaves in memory is not another's start. */
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

const inAndOut = (name: string, configure: (dataPath: string) => object): EventCase => ({
  kind: 'event',
  name,
  async *observe(builds) {
    const content = repeating(builds.isQuick ? 1024 : 2048)
    yield grown(configure, builds, (client, server) =>
      watched(server, async () => {
        await upload(client, content)
        await download(client, content)
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

/** Whether memory stays bounded where bytes could pile up. In and out is 2 GiB, 1 GiB in a quick run. */
export const memoryCases = (): readonly EventCase[] => [
  inAndOut('gigabytes in and out through filesystem', filesystemCache),
  inAndOut('gigabytes in and out through lz4 over filesystem', lz4Cache),
  stalledReaders(100, 100),
]
