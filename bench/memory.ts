import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { Client, type ClientReadableStream, credentials } from '@grpc/grpc-js'
import { codec } from '../src/proto/codec.js'
import { filesystemCache, lz4Cache } from './config.js'
import { type ServerProcess, startRemexec } from './process.js'

const MIB = 1 << 20
const writeRequest = codec('google.bytestream.WriteRequest')
const readRequest = codec('google.bytestream.ReadRequest')
const readResponse = codec('google.bytestream.ReadResponse')
const pass = (bytes: Buffer): Buffer => bytes

export interface MemoryFigure {
  readonly name: string
  /** The most resident memory seen during the case less what the idle server held before. */
  readonly grownBytes: number
}

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

const watched = async (server: ServerProcess, work: () => Promise<void>): Promise<number> => {
  const before = server.residentBytes()
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, server.residentBytes())
  }, 100)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return most - before
}

const inAndOut = async (configure: (dataPath: string) => object, sizeMib: number): Promise<number> => {
  const server = await startRemexec(configure)
  const client = connect(server)
  try {
    const content = repeating(sizeMib)
    return await watched(server, async () => {
      await upload(client, content)
      await download(client, content)
    })
  } finally {
    client.close()
    await server.stop()
  }
}

const stalledReaders = async (readers: number, sizeMib: number): Promise<number> => {
  const server = await startRemexec(filesystemCache)
  const client = connect(server)
  try {
    const content = repeating(sizeMib)
    await upload(client, content)
    return await watched(server, () => stall(client, content, readers))
  } finally {
    client.close()
    await server.stop()
  }
}

/** Each case starts a server of its own, so that what one leaves in memory is not another's start. */
export async function* memoryFigures(
  isWanted: (name: string) => boolean,
  isQuick: boolean,
): AsyncGenerator<MemoryFigure> {
  const gib = isQuick ? 1 : 2
  const cases: Readonly<Record<string, () => Promise<number>>> = {
    [`${gib} GiB in and out through filesystem`]: () => inAndOut(filesystemCache, gib * 1024),
    [`${gib} GiB in and out through lz4 over filesystem`]: () => inAndOut(lz4Cache, gib * 1024),
    '100 stalled readers of a 100 MiB blob': () => stalledReaders(100, 100),
  }
  for (const [name, run] of Object.entries(cases)) {
    if (isWanted(name)) yield { name, grownBytes: await run() }
  }
}
