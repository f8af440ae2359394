import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { codec } from '../src/proto/codec.js'
import { each } from './load/each.js'
import type { Request } from './load/request.js'
import type { Server } from './server/process.js'

const REAPI = 'build.bazel.remote.execution.v2'
export const CAS = `/${REAPI}.ContentAddressableStorage`
export const BYTE_STREAM = '/google.bytestream.ByteStream'
const updateRequest = codec(`${REAPI}.BatchUpdateBlobsRequest`)
const updateResponse = codec(`${REAPI}.BatchUpdateBlobsResponse`)
const writeRequest = codec('google.bytestream.WriteRequest')
const writeResponse = codec('google.bytestream.WriteResponse')

export const KIB = 1 << 10
export const MIB = 1 << 20
const CHUNK_BYTES = 64 * KIB
/** What clients of REAPI keep a batch below. */
const MAX_BATCH_BYTES = 3 * MIB
const MAX_BATCH_BLOBS = 1000

export interface Digest {
  readonly hash: string
  readonly sizeBytes: number
}

export const digestOf = (bytes: Uint8Array): Digest => ({
  hash: createHash('sha256').update(bytes).digest('hex'),
  sizeBytes: bytes.length,
})

export const randomBlobs = (count: number, sizeBytes: number): Buffer[] =>
  Array.from({ length: count }, () => randomBytes(sizeBytes))

export const batchUpdate = ({ instanceName }: Pick<Server, 'instanceName'>, blobs: readonly Buffer[]): Request => ({
  path: `${CAS}/BatchUpdateBlobs`,
  messages: [updateRequest.encode({ instanceName, requests: blobs.map((data) => ({ digest: digestOf(data), data })) })],
})

export const checkBatch = (message: Buffer): void => {
  const failed = updateResponse.decode(message).responses.find(({ status }) => (status?.code ?? 0) !== 0)
  if (failed !== undefined) throw new Error(`a blob was not stored: ${failed.status?.message}`)
}

const batches = (blobs: Iterable<Buffer>): Buffer[][] => {
  const all: Buffer[][] = [[]]
  let bytes = 0
  for (const blob of blobs) {
    const last = all.at(-1) ?? []
    if (last.length > 0 && (bytes + blob.length > MAX_BATCH_BYTES || last.length >= MAX_BATCH_BLOBS)) {
      all.push([blob])
      bytes = blob.length
    } else {
      last.push(blob)
      bytes += blob.length
    }
  }
  return all
}

/** Puts small blobs in place, outside of what is measured. */
export const store = async (server: Server, blobs: Iterable<Buffer>, headers?: Request['headers']): Promise<void> => {
  const requests = batches(blobs).map((batch) => ({ ...batchUpdate(server, batch), ...(headers && { headers }) }))
  await each(server, requests, { concurrency: 4, check: checkBatch })
}

const prefix = (instanceName: string): string => (instanceName === '' ? '' : `${instanceName}/`)

/** One upload in messages of 64 KiB. `wire` is what is sent when that is not the blob itself: its zstd form. */
export const write = ({ instanceName }: Pick<Server, 'instanceName'>, blob: Buffer, wire?: Buffer): Request => {
  const { hash, sizeBytes } = digestOf(blob)
  const form = wire === undefined ? 'blobs' : 'compressed-blobs/zstd'
  const resourceName = `${prefix(instanceName)}uploads/${randomUUID()}/${form}/${hash}/${sizeBytes}`
  const bytes = wire ?? blob
  const messages = Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, index) => {
    const writeOffset = index * CHUNK_BYTES
    const data = bytes.subarray(writeOffset, writeOffset + CHUNK_BYTES)
    const finishWrite = writeOffset + data.length === bytes.length
    return writeRequest.encode({ resourceName: index === 0 ? resourceName : '', writeOffset, data, finishWrite })
  })
  return { path: `${BYTE_STREAM}/Write`, messages }
}

/** In REAPI -1 is the committed size of a compressed upload that was not needed. */
export const checkWrite =
  (sizeBytes: number) =>
  (message: Buffer): void => {
    const { committedSize } = writeResponse.decode(message)
    if (committedSize !== sizeBytes) throw new Error(`${committedSize} bytes were committed, expected ${sizeBytes}`)
  }

export const readPath = (
  { instanceName }: Pick<Server, 'instanceName'>,
  { hash, sizeBytes }: Digest,
  form = 'blobs',
): string => `${prefix(instanceName)}${form}/${hash}/${sizeBytes}`

const WORDS = 2000

/**
 * Text of random words: what zstd makes about a third of, like sources and logs. Random bytes are the other extreme and
 * what compression can do nothing for.
 */
export const text = (sizeBytes: number): Buffer => {
  const words = Array.from({ length: WORDS }, () => randomBytes(2 + Math.floor(Math.random() * 5)).toString('hex'))
  const picks = randomBytes(Math.ceil(sizeBytes / 4) * 2)
  const bytes = Buffer.allocUnsafe(sizeBytes)
  for (let at = 0, pick = 0; at < sizeBytes; pick++) {
    const word = words[picks.readUInt16LE(pick * 2) % WORDS] ?? ''
    at += bytes.write(`${word}${pick % 10 === 9 ? '\n' : ' '}`, at, 'latin1')
  }
  return bytes
}
