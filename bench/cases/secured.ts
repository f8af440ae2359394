import { randomBytes } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import type { RateCase } from '../case.js'
import { CAS, checkWrite, digestOf, MIB, randomBlobs, store, write } from '../content.js'
import { each } from '../load/each.js'
import { repeat } from '../load/h2load.js'
import type { LoadResult, Request } from '../load/request.js'
import { mutualTlsTokenCache, openCache, TOKEN, tlsCache, tokenCache } from '../server/config.js'
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

/** One workload, for any credentials. */
interface Work extends Pick<RateCase, 'name' | 'unit' | 'requests'> {
  readonly setUp: (server: Server) => Promise<void>
  readonly run: (server: Server, requests: number) => Promise<LoadResult>
}

/** A server that checks no credentials serves these callers too. */
const withToken = (server: Server): Server =>
  Object.create(server, { headers: { value: { authorization: `Bearer ${TOKEN}` } } }) as Server

/** The same clients for all four servers, because h2load cannot send a certificate. */
const ask = (server: Server, request: Request, requests: number, concurrency: number): Promise<LoadResult> =>
  repeat(server, request, { requests, concurrency, isHere: true })

const findMissing = (): Work => {
  const blobs = randomBlobs(1, 64)
  const request = {
    path: `${CAS}/FindMissingBlobs`,
    messages: [findRequest.encode({ blobDigests: blobs.map(digestOf) })],
  }
  return {
    ...SMALL,
    name: 'FindMissingBlobs(1)',
    setUp: (server) => store(server, blobs),
    run: (server, requests) => ask(server, request, requests, SMALL_CALLS),
  }
}

const actionResult = (): Work => {
  const [output = Buffer.alloc(0), stdout = Buffer.alloc(0)] = randomBlobs(2, 1000)
  const actionDigest = digestOf(randomBytes(100))
  const outputFiles = [{ path: 'out/a', digest: digestOf(output) }]
  const actionResult = { outputFiles, stdoutDigest: digestOf(stdout), executionMetadata: { worker: 'bench' } }
  const put = putRequest.encode({ actionDigest, actionResult })
  const request = { path: `/${REAPI}.ActionCache/GetActionResult`, messages: [getRequest.encode({ actionDigest })] }
  return {
    ...SMALL,
    name: 'GetActionResult hit',
    setUp: async (server) => {
      await store(server, [output, stdout])
      await each(server, [{ path: `/${REAPI}.ActionCache/UpdateActionResult`, messages: [put] }], { concurrency: 1 })
    },
    run: (server, requests) => ask(server, request, requests, SMALL_CALLS),
  }
}

const read = (): Work => {
  const blob = freshBlob(MIB, false)
  return {
    ...LARGE,
    name: 'ByteStream.Read 1 MiB',
    setUp: async (server) => void (await each(server, [write(server, blob)], { concurrency: 1 })),
    run: (server, requests) => ask(server, readRequestOf(server, digestOf(blob), 'blobs'), requests, TRANSFERS),
  }
}

const writing: Work = {
  ...LARGE,
  name: 'ByteStream.Write 1 MiB',
  setUp: async () => {},
  run: (server, requests) => {
    const uploads = Array.from({ length: requests }, () => write(server, freshBlob(MIB, false)))
    return each(server, uploads, { concurrency: TRANSFERS, check: checkWrite(MIB) })
  },
}

/** The cost of TLS, tokens and certificates: the same work at four servers in the same rounds. */
export const securedCases = (): readonly RateCase[] =>
  [findMissing(), actionResult(), read(), writing].map(({ name, unit, requests, setUp, run }): RateCase => {
    const drive = (server: Server, count: number) => run(withToken(server), count)
    const beside = { usesBare: true, run: drive }
    return {
      kind: 'rate',
      name: `${name}, mutual TLS and a token`,
      unit,
      unitsPerRequest: 1,
      requests,
      configure: mutualTlsTokenCache,
      setUp: (server) => setUp(withToken(server)),
      run: drive,
      limits: [
        { ...beside, name: 'TLS alone', configure: tlsCache },
        { ...beside, name: 'a token alone', configure: tokenCache },
        { ...beside, name: 'neither', configure: openCache },
      ],
    }
  })
