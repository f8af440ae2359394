import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { codec, type Input } from '../../src/proto/codec.js'
import { FrameType } from '../../src/server/http2/frame/frame.js'
import { encodeFields } from '../../src/server/http2/hpack/encoder.js'
import { drawnBytes } from '../drawn.js'
import { frame, message } from '../server/http2/raw-client.js'
import { type Caller, windowOf } from './calls.js'

const REAPI = 'build.bazel.remote.execution.v2'
const FIND_MISSING = `${REAPI}.ContentAddressableStorage/FindMissingBlobs`
const BATCH_READ = `${REAPI}.ContentAddressableStorage/BatchReadBlobs`
const BATCH_UPDATE = `${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`
const GET_TREE = `${REAPI}.ContentAddressableStorage/GetTree`
const EXECUTE = `${REAPI}.Execution/Execute`
const READ = 'google.bytestream.ByteStream/Read'
const WRITE = 'google.bytestream.ByteStream/Write'
const MIB = 1024 * 1024

/** What the bystander does beside small calls: the status that is to come of it is 0. */
type Probe = (bystander: Caller) => Promise<{ readonly status: string | undefined; readonly ms: number }>

export interface Attack {
  readonly name: string
  /** The kind of the ledger that bounds it, for the reader. */
  readonly kind: string
  /** Runs for each change. The others run nightly, and for changes of the rooms that bound what clients hold. */
  readonly isQuick?: true
  /** What the server may take beyond what it has when nothing is asked of it. */
  readonly mostMib: number
  /** Puts what is needed into the server, then attacks: resolves when everything was sent. */
  begin(parts: AttackParts): Promise<void>
  readonly probe?: Probe
}

export interface AttackParts {
  /** A connection of an attacker. */
  connect(settings?: Buffer): Promise<Caller>
  /** A connection of an attacker that speaks HTTP/1.1, and reads nothing. */
  connectHttp1(): Promise<Socket>
  /** Puts blobs into the CAS. */
  readonly owner: Caller
}

const encode = <N extends Parameters<typeof codec>[0]>(name: N, value: Input<N>): Buffer =>
  codec(name).encode(value as never)

const digestOf = (bytes: Buffer) => ({
  hash: createHash('sha256').update(bytes).digest('hex'),
  sizeBytes: bytes.length,
})

/** Of one message: a server grants a window anew by the half of it. */
const PART_BYTES = 64 * 1024

const put = async (owner: Caller, ...blobs: readonly Buffer[]): Promise<void> => {
  let requests: { readonly digest: ReturnType<typeof digestOf>; readonly data: Buffer }[] = []
  let bytes = 0
  const flush = async (): Promise<void> => {
    const { status } = await owner.call(BATCH_UPDATE, encode(`${REAPI}.BatchUpdateBlobsRequest`, { requests }))
    if (status !== '0') throw new Error(`blobs could not be put: ${status}`)
    requests = []
    bytes = 0
  }
  for (const data of blobs) {
    if (bytes > 0 && bytes + data.length > PART_BYTES) await flush()
    requests.push({ digest: digestOf(data), data })
    bytes += data.length + 100
  }
  await flush()
}

/** A Write of the whole of a blob that is larger than a batch. */
const upload = async (owner: Caller, data: Buffer): Promise<void> => {
  const digest = digestOf(data)
  const resourceName = `uploads/${drawnBytes(8).toString('hex')}/blobs/${digest.hash}/${data.length}`
  const messages = range(Math.ceil(data.length / PART_BYTES)).map((at) => {
    const offset = at * PART_BYTES
    const part = data.subarray(offset, offset + PART_BYTES)
    const isLast = offset + PART_BYTES >= data.length
    const name = at === 0 ? resourceName : ''
    return encode('google.bytestream.WriteRequest', {
      ...{ resourceName: name, data: part, writeOffset: offset, finishWrite: isLast },
    })
  })
  const status = await owner.upload(WRITE, messages)
  if (status !== '0') throw new Error(`a blob could not be written: ${status}`)
}

const writeOf = (
  digest: { hash: string; sizeBytes: number },
  data: Buffer,
  more: { compressor?: string; instance?: string } = {},
): Buffer => {
  const blobs = more.compressor === undefined ? 'blobs' : `compressed-blobs/${more.compressor}`
  const instance = more.instance === undefined ? '' : `${more.instance}/`
  const resourceName = `${instance}uploads/${drawnBytes(8).toString('hex')}/${blobs}/${digest.hash}/${digest.sizeBytes}`
  return encode('google.bytestream.WriteRequest', { resourceName, data, writeOffset: 0 })
}

const somewhere = (sizeBytes: number) => ({ hash: drawnBytes(32).toString('hex'), sizeBytes })

/** A zstd frame of nothing but runs, which fills a window of that size, cut before its end (RFC 8878, 3.1.1). */
const runs = (windowLog: number): Buffer => {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3])
  const blockBytes = 128 * 1024
  const block = Buffer.alloc(4)
  block.writeUIntLE((blockBytes << 3) | (1 << 1), 0, 3)
  block[3] = 7
  return Buffer.concat([head, ...Array(2 ** windowLog / blockBytes).fill(block)])
}

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at)

const uploadOf = (sizeBytes: number): Probe => {
  return (bystander) => {
    const data = drawnBytes(sizeBytes)
    const digest = digestOf(data)
    const resourceName = `uploads/${drawnBytes(8).toString('hex')}/blobs/${digest.hash}/${sizeBytes}`
    return bystander.call(WRITE, encode('google.bytestream.WriteRequest', { resourceName, data, finishWrite: true }))
  }
}

const directoryOf = (entries: Input<'build.bazel.remote.execution.v2.Directory'>): Buffer =>
  encode(`${REAPI}.Directory`, entries)
const smallTree = directoryOf({ symlinks: [{ name: 'a', target: 'b' }] })

export const attacks: readonly Attack[] = [
  {
    name: 'A2: 250 FindMissingBlobs of 16 MiB in 16 KB of gzip, one connection',
    kind: 'unpacked',
    mostMib: 400,
    begin: async ({ connect }) => {
      const attacker = await connect()
      const packed = message(gzipSync(Buffer.alloc(16 * MIB - 1024)))
      packed[0] = 1
      for (const _ of range(250)) attacker.begin(FIND_MISSING, packed, true, [['grpc-encoding', 'gzip']])
    },
  },
  {
    name: 'A3: 8 Writes of 4 KB with a zstd window of 128 MiB',
    kind: 'windows',
    mostMib: 200,
    begin: async ({ connect }) => {
      const attacker = await connect()
      for (const _ of range(8))
        attacker.begin(WRITE, message(writeOf(somewhere(1024 * MIB), runs(27), { compressor: 'zstd' })), false)
    },
  },
  {
    name: 'A3: 200 Writes of 300 bytes with a zstd window of 8 MiB, 4 connections',
    isQuick: true,
    kind: 'windows',
    mostMib: 500,
    begin: async ({ connect }) => {
      for (const _ of range(4)) {
        const attacker = await connect()
        for (const __ of range(50))
          attacker.begin(WRITE, message(writeOf(somewhere(1024 * MIB), runs(23), { compressor: 'zstd' })), false)
      }
    },
  },
  {
    name: 'A10: 10,000 requests that stay incomplete with 60 KB each, 10 connections',
    kind: 'requests',
    mostMib: 600,
    begin: async ({ connect }) => {
      const part = message(Buffer.alloc(60_000))
      part.writeUInt32BE(100_000, 1)
      for (const _ of range(10)) {
        const attacker = await connect()
        for (const at of range(1000)) {
          attacker.begin(READ, part, false)
          if (at % 20 === 0) await attacker.synced()
        }
      }
    },
  },
  {
    name: 'R6: 1,000 BatchReadBlobs of 3.6 MB that nobody reads, 5 connections',
    kind: 'answers',
    mostMib: 600,
    begin: async ({ connect, owner }) => {
      const blob = drawnBytes(3_600_000)
      await put(owner, blob)
      const request = message(encode(`${REAPI}.BatchReadBlobsRequest`, { digests: [digestOf(blob)] }))
      for (const _ of range(5)) {
        const attacker = await connect(windowOf(0))
        for (const __ of range(200)) attacker.begin(BATCH_READ, request, true)
      }
    },
  },
  {
    name: '10,000 answers of 60 KB that nobody reads, 10 connections',
    kind: 'answers',
    mostMib: 1000,
    begin: async ({ connect }) => {
      const request = message(
        encode(`${REAPI}.FindMissingBlobsRequest`, { blobDigests: range(800).map(() => somewhere(10)) }),
      )
      for (const _ of range(10)) {
        const attacker = await connect(windowOf(0))
        for (const at of range(1000)) {
          attacker.begin(FIND_MISSING, request, true)
          if (at % 20 === 0) await attacker.synced()
        }
      }
    },
  },
  {
    name: 'R4: 1,200 Writes that send 1 kB and then nothing, 2 connections; another writes',
    isQuick: true,
    kind: 'uploads',
    mostMib: 700,
    begin: async ({ connect }) => {
      for (const _ of range(2)) {
        const attacker = await connect()
        for (const __ of range(600))
          attacker.begin(WRITE, message(writeOf(somewhere(100 * MIB), Buffer.alloc(1000))), false)
      }
    },
    probe: uploadOf(100_000),
  },
  {
    name: 'R4: 1,100 GetTree with a closed window, 2 connections; another gets its tree',
    kind: 'trees',
    mostMib: 1000,
    begin: async ({ connect, owner }) => {
      const leaves = range(20).map((at) =>
        directoryOf({ symlinks: [{ name: 'l', target: `${at}${'x'.repeat(500_000)}` }] }),
      )
      const directories = leaves.map((leaf, at) => ({
        name: `d${String(at).padStart(2, '0')}`,
        digest: digestOf(leaf),
      }))
      const root = directoryOf({ directories })
      await put(owner, ...leaves, root, smallTree)
      const request = message(encode(`${REAPI}.GetTreeRequest`, { rootDigest: digestOf(root) }))
      for (const _ of range(2)) {
        const attacker = await connect(windowOf(0))
        for (const __ of range(550)) attacker.begin(GET_TREE, request, true)
      }
    },
    probe: (bystander) =>
      bystander.call(GET_TREE, encode(`${REAPI}.GetTreeRequest`, { rootDigest: digestOf(smallTree) })),
  },
  {
    name: 'R5: 40 Executes and 40 GetTree of one input root with 500,000 directories, 4 connections; another gets its tree',
    kind: 'trees',
    mostMib: 1300,
    begin: async ({ connect, owner }) => {
      const leaves = (middle: number) =>
        range(1000).map((at) => directoryOf({ symlinks: [{ name: 'l', target: `${middle}/${at}` }] }))
      const parent = (children: readonly Buffer[]) =>
        directoryOf({
          directories: children.map((child, at) => ({
            name: `d${String(at).padStart(4, '0')}`,
            digest: digestOf(child),
          })),
        })
      const middles: Buffer[] = []
      for (const middle of range(500)) {
        const children = leaves(middle)
        await put(owner, ...children)
        middles.push(parent(children))
      }
      const root = parent(middles)
      const command = encode(`${REAPI}.Command`, { arguments: ['true'] })
      const facts = { commandDigest: digestOf(command), inputRootDigest: digestOf(root) }
      const actions = range(40).map(() => encode(`${REAPI}.Action`, { ...facts, salt: drawnBytes(16) }))
      await put(owner, ...middles, root, command, ...actions, smallTree)
      const tree = message(encode(`${REAPI}.GetTreeRequest`, { rootDigest: digestOf(root) }))
      for (const first of range(4)) {
        const attacker = await connect()
        for (const at of range(10)) {
          const actionDigest = digestOf(actions[first * 10 + at] ?? Buffer.alloc(0))
          attacker.begin(EXECUTE, message(encode(`${REAPI}.ExecuteRequest`, { actionDigest })), true)
          attacker.begin(GET_TREE, tree, true)
        }
      }
    },
    probe: (bystander) =>
      bystander.call(GET_TREE, encode(`${REAPI}.GetTreeRequest`, { rootDigest: digestOf(smallTree) })),
  },
  {
    name: 'A4: 300 Executes whose answers name 20,000 missing inputs each, one connection',
    kind: 'outcomes',
    mostMib: 450,
    begin: async ({ connect, owner }) => {
      const files = range(20_000).map((at) => ({ name: `f${at}`, digest: somewhere(10) }))
      const sorted = files.sort((a, b) => (a.name < b.name ? -1 : 1))
      const root = directoryOf({ files: sorted })
      const command = encode(`${REAPI}.Command`, { arguments: ['true'] })
      const action = encode(`${REAPI}.Action`, { commandDigest: digestOf(command), inputRootDigest: digestOf(root) })
      // Without the Command the server names everything that is missing.
      await put(owner, root, action)
      const request = encode(`${REAPI}.ExecuteRequest`, { actionDigest: digestOf(action), skipCacheLookup: true })
      const attacker = await connect()
      for (const _ of range(300)) await attacker.call(EXECUTE, request)
    },
  },
  {
    name: '10,000 Executes of actions that no worker takes, 10 connections',
    kind: 'requests',
    mostMib: 400,
    begin: async ({ connect, owner }) => {
      const root = directoryOf({})
      const command = encode(`${REAPI}.Command`, { arguments: ['true'] })
      const facts = { commandDigest: digestOf(command), inputRootDigest: digestOf(root) }
      const actions = range(10_000).map(() => encode(`${REAPI}.Action`, { ...facts, salt: drawnBytes(16) }))
      await put(owner, root, command, ...actions)
      for (const first of range(10)) {
        const attacker = await connect()
        for (const at of range(1000)) {
          const actionDigest = digestOf(actions[first * 1000 + at] ?? Buffer.alloc(0))
          attacker.begin(EXECUTE, message(encode(`${REAPI}.ExecuteRequest`, { actionDigest })), true)
          if (at % 20 === 0) await attacker.synced()
        }
      }
    },
  },
  {
    name: '2,000 Reads in zstd of 30 MB that nobody reads, 4 connections',
    kind: 'windows',
    mostMib: 500,
    begin: async ({ connect, owner }) => {
      const blob = drawnBytes(30_000_000)
      const { hash, sizeBytes } = digestOf(blob)
      await upload(owner, blob)
      const resourceName = `compressed-blobs/zstd/${hash}/${sizeBytes}`
      const request = message(encode('google.bytestream.ReadRequest', { resourceName }))
      for (const _ of range(4)) {
        const attacker = await connect(windowOf(0))
        for (const __ of range(500)) attacker.begin(READ, request, true)
      }
    },
  },
  {
    name: '2,000 Reads of 30 MB that nobody reads, 4 connections',
    kind: 'answers',
    mostMib: 500,
    begin: async ({ connect, owner }) => {
      const blob = drawnBytes(30_000_000)
      const { hash, sizeBytes } = digestOf(blob)
      await upload(owner, blob)
      const request = message(encode('google.bytestream.ReadRequest', { resourceName: `blobs/${hash}/${sizeBytes}` }))
      for (const _ of range(4)) {
        const attacker = await connect(windowOf(0))
        for (const __ of range(500)) attacker.begin(READ, request, true)
      }
    },
  },
  {
    name: '10,000 requests with 14 KB of fields each, 10 connections',
    kind: 'requests',
    mostMib: 600,
    begin: async ({ connect }) => {
      const fields = range(14).map((at) => [`x-${at}`, drawnBytes(500).toString('hex')] as const)
      const part = message(Buffer.alloc(10)).subarray(0, 7)
      for (const _ of range(10)) {
        const attacker = await connect()
        for (const at of range(1000)) {
          attacker.begin(READ, part, false, fields)
          if (at % 20 === 0) await attacker.synced()
        }
      }
    },
  },
  {
    name: '2,300 connections of one address, 15 KB of a request on each',
    kind: 'max_connections_per_address',
    mostMib: 300,
    begin: async ({ connect }) => {
      const part = message(Buffer.alloc(15_000))
      part.writeUInt32BE(100_000, 1)
      for (const _ of range(2300)) (await connect()).begin(READ, part, false)
    },
  },
  {
    name: '300 BatchUpdateBlobs of 3.9 MB that end a byte short, 6 connections',
    kind: 'requests',
    mostMib: 700,
    begin: async ({ connect }) => {
      const part = message(drawnBytes(3_900_000))
      part.writeUInt32BE(3_900_001, 1)
      for (const _ of range(6)) {
        const attacker = await connect()
        for (const __ of range(50)) attacker.begin(BATCH_UPDATE, part, false)
        await attacker.synced()
      }
    },
  },
  {
    name: 'A8: a cancelled upload fills a memory store; another uploads',
    isQuick: true,
    kind: 'parked',
    mostMib: 200,
    begin: async ({ connect }) => {
      const attacker = await connect()
      attacker.begin(
        WRITE,
        message(writeOf(somewhere(7 * MIB), Buffer.alloc(6 * MIB, 1), { instance: 'memory' })),
        false,
      )
      // biome-ignore lint/plugin: the client stays for a moment; nothing is expected of it
      await new Promise((resolve) => setTimeout(resolve, 500))
      attacker.close()
    },
    probe: (bystander) => {
      const data = drawnBytes(3 * MIB)
      const digest = digestOf(data)
      const resourceName = `memory/uploads/${drawnBytes(8).toString('hex')}/blobs/${digest.hash}/${data.length}`
      return bystander.call(WRITE, encode('google.bytestream.WriteRequest', { resourceName, data, finishWrite: true }))
    },
  },
  {
    name: '2,000 connections that send a part of the preface of HTTP/2, of a method or of a TLS hello, or nothing',
    isQuick: true,
    kind: 'none: their number is bounded',
    mostMib: 200,
    begin: async ({ connectHttp1 }) => {
      const parts = [Buffer.from('PRI * HTTP/2.0\r\n'), Buffer.from('GE'), Buffer.from([22, 3, 1, 2]), Buffer.alloc(0)]
      for (const at of range(2000)) (await connectHttp1()).write(parts[at % parts.length] as Buffer)
    },
  },
  {
    name: '3,000,000 requests sent ahead over HTTP/1.1, 30 connections',
    isQuick: true,
    kind: 'requests',
    mostMib: 400,
    begin: async ({ connectHttp1 }) => {
      const requests = Buffer.from('GET /files/a HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(10_000))
      for (const _ of range(30)) {
        const socket = await connectHttp1()
        for (const __ of range(10)) socket.write(requests)
      }
    },
  },
  {
    name: '400 uploads of 300 bytes over HTTP/1.1 with a zstd window of 8 MiB',
    isQuick: true,
    kind: 'windows',
    mostMib: 500,
    begin: async ({ connectHttp1 }) => {
      const body = runs(23)
      for (const _ of range(400)) {
        const { hash } = somewhere(1)
        const socket = await connectHttp1()
        socket.write(
          `PUT /bazel/cas/${hash} HTTP/1.1\r\nhost: x\r\ncontent-encoding: zstd\r\ncontent-length: 100000\r\n\r\n`,
        )
        socket.write(body)
      }
    },
  },
  {
    name: '4,000 downloads of 30 MB over HTTP/2 that nobody reads, 20 connections',
    isQuick: true,
    kind: 'answers',
    mostMib: 300,
    begin: async ({ connect, owner }) => {
      const blob = drawnBytes(30_000_000)
      await upload(owner, blob)
      const path = `/bazel/cas/${digestOf(blob).hash}`
      const block = encodeFields([
        ...([
          [':method', 'GET'],
          [':scheme', 'http'],
          [':path', path],
          [':authority', 'x'],
        ] as [string, string][]),
      ])
      for (const _ of range(20)) {
        const { client } = await connect(windowOf(0))
        client.write(...range(200).map((at) => frame(FrameType.HEADERS, 5, 2 * at + 1, block)))
      }
    },
  },
]

export const smallCall = (caller: Caller): Promise<{ readonly status: string | undefined; readonly ms: number }> =>
  caller.call(FIND_MISSING, encode(`${REAPI}.FindMissingBlobsRequest`, { blobDigests: [somewhere(10)] }))
