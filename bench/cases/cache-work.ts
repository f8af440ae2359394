import { randomBytes } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import type { RateCase } from '../case.js'
import { CAS, checkWrite, digestOf, randomBlobs, store, write } from '../content.js'
import { each } from '../load/each.js'
import { type RepeatOptions, repeat } from '../load/h2load.js'
import type { LoadResult, Request } from '../load/request.js'
import type { Server } from '../server/process.js'
import { readRequestOf } from './read.js'
import { freshBlob } from './sizes.js'

const REAPI = 'build.bazel.remote.execution.v2'
const findRequest = codec(`${REAPI}.FindMissingBlobsRequest`)
const getRequest = codec(`${REAPI}.GetActionResultRequest`)
const putRequest = codec(`${REAPI}.UpdateActionResultRequest`)

const SMALL_CALLS = 32
const TRANSFERS = 8
const SMALL = { unit: 'op', requests: { least: 400, most: 50_000 } } as const
const LARGE = { unit: 'MiB', requests: { least: 16, most: 400 } } as const

/** One workload of a cache, for servers of any configuration. */
export interface Work extends Pick<RateCase, 'name' | 'unit' | 'requests'> {
  readonly setUp: (server: Server) => Promise<void>
  readonly run: (server: Server, requests: number) => Promise<LoadResult>
}

/** How the calls of a workload are sent. */
export interface Sending extends Pick<RepeatOptions, 'connections' | 'isHere'> {
  /** So many times the calls in flight that one thread gets. Default 1. */
  readonly times?: number
}

export const findMissing = ({ times = 1, ...sending }: Sending): Work => {
  const blobs = randomBlobs(1, 64)
  const request = {
    path: `${CAS}/FindMissingBlobs`,
    messages: [findRequest.encode({ blobDigests: blobs.map(digestOf) })],
  }
  return {
    ...SMALL,
    name: 'FindMissingBlobs(1)',
    setUp: (server) => store(server, blobs),
    run: (server, requests) => repeat(server, request, { requests, concurrency: times * SMALL_CALLS, ...sending }),
  }
}

export const actionResult = ({ times = 1, ...sending }: Sending): Work => {
  const [output = Buffer.alloc(0), stdout = Buffer.alloc(0)] = randomBlobs(2, 1000)
  const actionDigest = digestOf(randomBytes(100))
  const outputFiles = [{ path: 'out/a', digest: digestOf(output) }]
  const result = { outputFiles, stdoutDigest: digestOf(stdout), executionMetadata: { worker: 'bench' } }
  const put = putRequest.encode({ actionDigest, actionResult: result })
  const request = { path: `/${REAPI}.ActionCache/GetActionResult`, messages: [getRequest.encode({ actionDigest })] }
  return {
    ...SMALL,
    name: 'GetActionResult hit',
    setUp: async (server) => {
      await store(server, [output, stdout])
      await each(server, [{ path: `/${REAPI}.ActionCache/UpdateActionResult`, messages: [put] }], { concurrency: 1 })
    },
    run: (server, requests) => repeat(server, request, { requests, concurrency: times * SMALL_CALLS, ...sending }),
  }
}

/** A transfer of many bytes, or of few. */
export interface Transfer {
  readonly name: string
  readonly bytes: number
}

const loadOf = ({ bytes }: Transfer) =>
  bytes < AT_LEAST_LARGE ? { ...SMALL, concurrency: SMALL_CALLS } : { ...LARGE, concurrency: TRANSFERS }

const AT_LEAST_LARGE = 64 * 1024

export const reading = (size: Transfer, { times = 1, ...sending }: Sending): Work => {
  const { concurrency, ...load } = loadOf(size)
  const blob = freshBlob(size.bytes, false)
  const request = (server: Server): Request => readRequestOf(server, digestOf(blob), 'blobs')
  return {
    ...load,
    name: `ByteStream.Read ${size.name}`,
    setUp: async (server) => void (await each(server, [write(server, blob)], { concurrency: 1 })),
    run: (server, requests) =>
      repeat(server, request(server), { requests, concurrency: times * concurrency, ...sending }),
  }
}

export const writing = (size: Transfer, { connections = 1, times = 1 }: Sending): Work => {
  const { concurrency, ...load } = loadOf(size)
  return {
    ...load,
    name: `ByteStream.Write ${size.name}`,
    setUp: async () => {},
    run: (server, requests) => {
      const uploads = Array.from({ length: requests }, () => write(server, freshBlob(size.bytes, false)))
      return each(server, uploads, { concurrency: times * concurrency, connections, check: checkWrite(size.bytes) })
    },
  }
}
