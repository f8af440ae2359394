import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import { driveCalls } from '../calls.js'
import type { Case } from '../case.js'
import { h2load, type Load } from '../load.js'
import type { ServerProcess } from '../process.js'

const REAPI = 'build.bazel.remote.execution.v2'
const CAS = `/${REAPI}.ContentAddressableStorage`
const findRequest = codec(`${REAPI}.FindMissingBlobsRequest`)
const findResponse = codec(`${REAPI}.FindMissingBlobsResponse`)
const updateRequest = codec(`${REAPI}.BatchUpdateBlobsRequest`)
const updateResponse = codec(`${REAPI}.BatchUpdateBlobsResponse`)
const getResult = codec(`${REAPI}.GetActionResultRequest`)
const putResult = codec(`${REAPI}.UpdateActionResultRequest`)
const writeRequest = codec('google.bytestream.WriteRequest')
const writeResponse = codec('google.bytestream.WriteResponse')
const readRequest = codec('google.bytestream.ReadRequest')

export interface Scale {
  readonly requests: number
  readonly transfers: number
}

const digestOf = (bytes: Uint8Array) => ({
  hash: createHash('sha256').update(bytes).digest('hex'),
  sizeBytes: bytes.length,
})

const batchOf = (blobs: readonly Buffer[]): Buffer =>
  updateRequest.encode({ requests: blobs.map((data) => ({ digest: digestOf(data), data })) })

const checkBatch = (response: Buffer): void => {
  const failed = updateResponse.decode(response).responses.find(({ status }) => (status?.code ?? 0) !== 0)
  if (failed !== undefined) throw new Error(`a blob was not stored: ${failed.status?.message}`)
}

const store = (server: ServerProcess, blobs: readonly Buffer[]) =>
  driveCalls({
    address: server.address,
    path: `${CAS}/BatchUpdateBlobs`,
    requests: [[batchOf(blobs)]],
    concurrency: 1,
    check: checkBatch,
  })

/** The same unary request again and again: h2load against both sides. */
const repeated = (name: string, path: string, message: Buffer, requests: number, setUp: Case['setUp']): Case => {
  const load = (server: ServerProcess): Load => ({
    address: server.address,
    path,
    messages: [message],
    requests,
    concurrency: 32,
  })
  return {
    name,
    unit: 'op',
    unitsPerRequest: 1,
    ...(setUp === undefined ? {} : { setUp }),
    ours: (server) => h2load(load(server)),
    limit: (server) => h2load(load(server)),
  }
}

const findMissing = (count: number, requests: number): Case => {
  const blobs = Array.from({ length: count }, () => randomBytes(64))
  const message = findRequest.encode({ blobDigests: blobs.map(digestOf) })
  return repeated(`FindMissingBlobs(${count})`, `${CAS}/FindMissingBlobs`, message, requests, async (server) => {
    await store(server, blobs)
    await driveCalls({
      address: server.address,
      path: `${CAS}/FindMissingBlobs`,
      requests: [[message]],
      concurrency: 1,
      check: (response) => {
        if (findResponse.decode(response).missingBlobDigests.length > 0) throw new Error('a stored blob is missing')
      },
    })
  })
}

const actionResultHit = (requests: number): Case => {
  const output = randomBytes(1_000)
  const actionDigest = digestOf(randomBytes(100))
  const path = `/${REAPI}.ActionCache`
  return repeated(
    'GetActionResult hit',
    `${path}/GetActionResult`,
    getResult.encode({ actionDigest }),
    requests,
    async (server) => {
      await store(server, [output])
      const actionResult = {
        outputFiles: [{ path: 'out/a', digest: digestOf(output) }],
        executionMetadata: { worker: 'bench' },
      }
      const { address } = server
      const update = putResult.encode({ actionDigest, actionResult })
      await driveCalls({ address, path: `${path}/UpdateActionResult`, requests: [[update]], concurrency: 1 })
      await driveCalls({
        address,
        path: `${path}/GetActionResult`,
        requests: [[getResult.encode({ actionDigest })]],
        concurrency: 1,
      })
    },
  )
}

/** 4 KiB blobs, 100 a call, never the same twice. */
const batchUpdate = (calls: number): Case => {
  const drive = (server: ServerProcess) => {
    const fresh = () => [batchOf(Array.from({ length: 100 }, () => randomBytes(4 << 10)))]
    const requests = Array.from({ length: calls }, fresh)
    const path = `${CAS}/BatchUpdateBlobs`
    return driveCalls({ address: server.address, path, requests, concurrency: 4, check: checkBatch })
  }
  return { name: 'BatchUpdateBlobs of 4 KiB', unit: 'op', unitsPerRequest: 100, ours: drive, limit: drive }
}

const MIB = 1 << 20
const BIG_MIB = 64

const writeBig = (transfers: number): Case => {
  const drive = (server: ServerProcess) => {
    const requests = Array.from({ length: transfers }, () => writeMessages(randomBytes(BIG_MIB * MIB)))
    return driveCalls({
      address: server.address,
      path: '/google.bytestream.ByteStream/Write',
      requests,
      concurrency: 2,
      check: (response) => {
        if (writeResponse.decode(response).committedSize !== BIG_MIB * MIB) throw new Error('not all was committed')
      },
    })
  }
  return { name: 'ByteStream.Write 64 MiB', unit: 'MiB', unitsPerRequest: BIG_MIB, ours: drive, limit: drive }
}

const writeMessages = (blob: Buffer): Buffer[] => {
  const { hash, sizeBytes } = digestOf(blob)
  const resourceName = `uploads/${randomUUID()}/blobs/${hash}/${sizeBytes}`
  const chunkBytes = 64 << 10
  return Array.from({ length: Math.ceil(blob.length / chunkBytes) }, (_, index) => {
    const writeOffset = index * chunkBytes
    const data = blob.subarray(writeOffset, writeOffset + chunkBytes)
    const finishWrite = writeOffset + data.length === blob.length
    return writeRequest.encode({ resourceName: index === 0 ? resourceName : '', writeOffset, data, finishWrite })
  })
}

const readBig = (transfers: number): Case => {
  const blob = randomBytes(BIG_MIB * MIB)
  const { hash, sizeBytes } = digestOf(blob)
  const path = '/google.bytestream.ByteStream/Read'
  const messages = [readRequest.encode({ resourceName: `blobs/${hash}/${sizeBytes}` })]
  const load = (server: ServerProcess): Load => ({
    address: server.address,
    path,
    messages,
    requests: transfers,
    concurrency: 2,
  })
  return {
    name: 'ByteStream.Read 64 MiB',
    unit: 'MiB',
    unitsPerRequest: BIG_MIB,
    setUp: async (server) => {
      const { address } = server
      const requests = [writeMessages(blob)]
      await driveCalls({ address, path: '/google.bytestream.ByteStream/Write', requests, concurrency: 1 })
      await driveCalls({ address, path, requests: [messages], concurrency: 1 })
    },
    ours: (server) => h2load(load(server)),
    limit: (server) => h2load(load(server)),
  }
}

export const cacheCases = ({ requests, transfers }: Scale): readonly Case[] => [
  findMissing(1, requests),
  findMissing(100, Math.ceil(requests / 4)),
  actionResultHit(requests),
  batchUpdate(Math.ceil(requests / 100)),
  writeBig(transfers),
  readBig(transfers),
]
