import { zstdCompress } from '../../src/stream/compression/zstd.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { batchUpdate, checkBatch, checkWrite, type Digest, digestOf, KIB, MIB, randomBlobs, write } from '../content.js'
import { each } from '../load/each.js'
import { repeat } from '../load/h2load.js'
import { type HttpRequest, overHttp } from '../load/http1.js'
import { cpuMicrosOfPart, type Part } from '../parts.js'
import { filesystemCache, httpCaches, zstdCache } from '../server/config.js'
import { memoryPlace } from '../server/place.js'
import { type ServerProcess, startRemexec } from '../server/process.js'
import { readRequestOf } from './read.js'
import { freshBlob } from './sizes.js'

/** One kind of request beside what it cannot do without. */
interface Subject {
  readonly name: string
  readonly requests: number
  readonly configure: (dataPath: string) => object
  /** Uploads what is read, and gives the parts of one request. */
  setUp(server: ServerProcess): Promise<readonly Part[]>
  /** Makes the content; the returned work sends all requests. */
  prepare(server: ServerProcess): () => Promise<unknown>
}

interface Load {
  readonly requests: number
  /** At a time. */
  readonly concurrency: number
}

/** V8 has compiled an upload of 1 MiB after some 2,000. */
const WARM_UP_RUNS = 5

const once = (bytes: number, ...names: readonly Part['name'][]): readonly Part[] =>
  names.map((name) => ({ name, bytes, times: 1 }))

const writes = (name: string, bytes: number, { requests, concurrency }: Load): Subject => ({
  name: `ByteStream.Write ${name}`,
  requests,
  configure: filesystemCache,
  setUp: async () => once(bytes, 'hash', 'receive', 'write'),
  prepare: (server) => {
    const calls = Array.from({ length: requests }, () => write(server, freshBlob(bytes, false)))
    return () => each(server, calls, { concurrency, check: checkWrite(bytes) })
  },
})

const puts = (name: string, bytes: number, { requests, concurrency }: Load): Subject => ({
  name: `HTTP PUT /cas ${name}`,
  requests,
  configure: httpCaches,
  setUp: async () => once(bytes, 'hash', 'receive', 'write'),
  prepare: (server) => {
    const calls = Array.from({ length: requests }, (): HttpRequest => {
      const body = freshBlob(bytes, false)
      return { method: 'PUT', path: `/cas/${digestOf(body).hash}`, body, answerBytes: 0 }
    })
    return () => overHttp(server, calls, concurrency)
  },
})

const BATCH_BLOBS = 100
const BATCH_BLOB_BYTES = 4 * KIB

const batches = ({ requests, concurrency }: Load): Subject => ({
  name: `BatchUpdateBlobs of ${BATCH_BLOBS} times 4 KiB`,
  requests,
  configure: filesystemCache,
  // Small blobs are appended to a log.
  setUp: async () => [
    { name: 'hash', bytes: BATCH_BLOB_BYTES, times: BATCH_BLOBS },
    ...once(BATCH_BLOBS * BATCH_BLOB_BYTES, 'receive', 'append'),
  ],
  prepare: (server) => {
    const calls = Array.from({ length: requests }, () =>
      batchUpdate(server, randomBlobs(BATCH_BLOBS, BATCH_BLOB_BYTES)),
    )
    return () => each(server, calls, { concurrency, check: checkBatch })
  },
})

/** Reads one blob again and again, sent as it is stored. */
const reads = (name: string, bytes: number, { requests, concurrency }: Load, isZstd = false): Subject => {
  let digest: Digest = digestOf(Buffer.alloc(0))
  return {
    name: `ByteStream.Read ${name}`,
    requests,
    configure: isZstd ? zstdCache : filesystemCache,
    setUp: async (server) => {
      const blob = freshBlob(bytes, isZstd)
      const wire = isZstd ? zstdCompress(blob) : undefined
      digest = digestOf(blob)
      await each(server, [write(server, blob, wire)], { concurrency: 1 })
      return once((wire ?? blob).length, 'read', 'send')
    },
    prepare: (server) => {
      const request = readRequestOf(server, digest, isZstd ? 'compressed-blobs/zstd' : 'blobs')
      return () => repeat(server, request, { requests, concurrency })
    },
  }
}

const gets = (name: string, bytes: number, { requests, concurrency }: Load): Subject => {
  let path = ''
  return {
    name: `HTTP GET /cas ${name}`,
    requests,
    configure: httpCaches,
    setUp: async (server) => {
      const body = freshBlob(bytes, false)
      path = `/cas/${digestOf(body).hash}`
      await overHttp(server, [{ method: 'PUT', path, body, answerBytes: 0 }], 1)
      return once(bytes, 'read', 'send')
    },
    prepare: (server) => {
      const calls = Array<HttpRequest>(requests).fill({ method: 'GET', path, answerBytes: bytes })
      return () => overHttp(server, calls, concurrency)
    },
  }
}

const cpuMicrosOf = async (server: ServerProcess, { prepare, requests }: Subject): Promise<number> => {
  const work = prepare(server)
  await server.begin()
  await work()
  return (await server.end()).cpuMicros / requests
}

const besideParts = (subject: Subject): EventCase => ({
  kind: 'event',
  name: `${subject.name} beside its parts`,
  async *observe({ cli, profileFolder, rounds }: Builds): AsyncGenerator<Observation> {
    const server = await startRemexec(subject.configure, { cli, profileFolder, place: memoryPlace })
    try {
      const parts = await subject.setUp(server)
      for (let run = 0; run < WARM_UP_RUNS; run++) await cpuMicrosOf(server, subject)
      const values: number[] = []
      const ofParts: number[][] = parts.map(() => [])
      for (let round = 0; round < rounds; round++) {
        values.push(await cpuMicrosOf(server, subject))
        for (const [at, part] of parts.entries()) ofParts[at]?.push(await cpuMicrosOfPart(part))
      }
      const sums = values.map((_, round) => ofParts.reduce((sum, micros) => sum + (micros[round] ?? 0), 0))
      const names = parts.map(({ name }) => name)
      yield { name: 'CPU of a request', unit: 'µs', values, beside: { name: names.join(' + '), values: sums } }
      for (const [at, name] of names.entries()) yield { name: `${name} alone`, unit: 'µs', values: ofParts[at] ?? [] }
    } finally {
      await server.stop()
    }
  },
})

/** Uploads and downloads beside the sum of what no server can leave out, each measured alone in the same rounds, files in memory. */
export const partCases = (): readonly EventCase[] =>
  [
    batches({ requests: 200, concurrency: 4 }),
    writes('1 MiB', MIB, { requests: 400, concurrency: 8 }),
    writes('64 MiB', 64 * MIB, { requests: 8, concurrency: 2 }),
    puts('1 MiB', MIB, { requests: 400, concurrency: 8 }),
    puts('64 MiB', 64 * MIB, { requests: 8, concurrency: 2 }),
    reads('1 MiB', MIB, { requests: 1000, concurrency: 8 }),
    reads('64 MiB', 64 * MIB, { requests: 20, concurrency: 2 }),
    reads('16 MiB of text, stored and sent as zstd', 16 * MIB, { requests: 100, concurrency: 2 }, true),
    gets('1 MiB', MIB, { requests: 1000, concurrency: 8 }),
  ].map(besideParts)
