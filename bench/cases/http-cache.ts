import { randomUUID } from 'node:crypto'
import type { Limit, RateCase } from '../case.js'
import { digestOf, MIB } from '../content.js'
import { type HttpRequest, overHttp } from '../load/http1.js'
import { httpCaches, threaded } from '../server/config.js'
import type { Server } from '../server/process.js'
import { getActionResult } from './action-result.js'
import { readCase } from './read.js'
import { freshBlob, type Size, sizes } from './sizes.js'
import { identityWrite } from './write.js'

/** A kind of cache, and where a client puts a file in it. */
interface Kind {
  readonly name: string
  readonly pathOf: (blob: Buffer) => string
  /** Whether bazel-remote has it too. */
  readonly isCommon: boolean
}

const kinds: readonly Kind[] = [
  { name: '/cas', pathOf: (blob) => `/cas/${digestOf(blob).hash}`, isCommon: true },
  { name: 'opaque', pathOf: () => `/files/${randomUUID()}`, isCommon: false },
]

const NAMES = ['1 KiB', '1 MiB', '64 MiB']

const LOOKUP = { name: 'GetActionResult hit', isHit: true, isInlined: false, hasCas: true }

type Drive = (server: Server, requests: number) => ReturnType<typeof overHttp>

/** The name says how the server is compared: it answers as much as the cache. */
export const BARE_HTTP = 'bare node:http'

const limitsOf = (drive: Drive, grpc: readonly RateCase[]): readonly Limit[] => [
  { name: BARE_HTTP, usesBare: true, isBareHttp: true, run: drive },
  ...grpc.map(({ name, run }) => ({ name, usesBare: true, configure: httpCaches, run })),
]

const caseOf = (name: string, size: Size, drive: Drive, grpc: RateCase, ...others: readonly RateCase[]): RateCase => ({
  kind: 'rate',
  name,
  unit: size.bytes < MIB ? 'op' : 'MiB',
  unitsPerRequest: size.bytes < MIB ? 1 : size.bytes / MIB,
  requests: grpc.requests,
  configure: httpCaches,
  run: drive,
  limits: limitsOf(drive, [grpc, ...others]),
})

/** Uploads a file and compares what a download gives. */
const stored = async ({ address }: Server, path: string, blob: Buffer): Promise<void> => {
  const url = `http://${address}${path}`
  const put = await fetch(url, { method: 'PUT', body: Uint8Array.from(blob) })
  if (!put.ok) throw new Error(`PUT ${path}: ${put.status} ${await put.text()}`)
  const got = await fetch(url)
  if (!Buffer.from(await got.arrayBuffer()).equals(blob)) throw new Error(`GET ${path}: ${got.status}, another content`)
}

const putCase = (kind: Kind, size: Size): RateCase => {
  const putOf = (): HttpRequest => {
    const body = freshBlob(size.bytes, false)
    return { method: 'PUT', path: kind.pathOf(body), body, answerBytes: 0 }
  }
  const drive: Drive = (server, requests) => overHttp(server, Array.from({ length: requests }, putOf), size.concurrency)
  const setUp = async (server: Server): Promise<void> => {
    const { path, body = Buffer.alloc(0) } = putOf()
    await stored(server, path, body)
  }
  return {
    ...caseOf(`HTTP PUT ${kind.name} ${size.name}`, size, drive, identityWrite(size)),
    setUp,
    ...(kind.isCommon && { setUpHttpTarget: setUp }),
  }
}

const getCase = (kind: Kind, size: Size): RateCase => {
  const grpc = readCase(size, false)
  // A client of gRPC that has a key and no digest asks for a result first.
  const lookups = kind.name === 'opaque' && size.bytes < MIB ? [getActionResult(LOOKUP)] : []
  // Made by the first server's set-up, because it can be large; all servers get the same.
  let blob: Buffer | undefined
  let path = ''
  const setUp = async (server: Server): Promise<void> => {
    if (blob === undefined) {
      blob = freshBlob(size.bytes, false)
      path = kind.pathOf(blob)
    }
    await stored(server, path, blob)
  }
  const drive: Drive = (server, requests) => {
    const get: HttpRequest = { method: 'GET', path, answerBytes: size.bytes }
    return overHttp(server, Array<HttpRequest>(requests).fill(get), size.concurrency)
  }
  return {
    ...caseOf(`HTTP GET ${kind.name} ${size.name}`, size, drive, grpc, ...lookups),
    setUp: async (server) => {
      await setUp(server)
      for (const each of [grpc, ...lookups]) await each.setUp?.(server)
    },
    ...(kind.isCommon && { setUpHttpTarget: setUp }),
    tearDown: async () => {
      blob = undefined
      await grpc.tearDown?.()
    },
  }
}

const sized = sizes.filter(({ name }) => NAMES.includes(name))

/** Requests over HTTP cost the same if threads serve the gRPC of their port. */
const besideThreads = (size: Size): readonly RateCase[] =>
  kinds
    .filter(({ isCommon }) => isCommon)
    .flatMap((kind) => [putCase(kind, size), getCase(kind, size)])
    .map(({ setUpHttpTarget: _, ...one }) => ({
      ...one,
      name: `${one.name} beside 2 service threads`,
      configure: threaded(2, httpCaches),
      limits: [{ name: 'one thread', usesBare: true, configure: threaded(1, httpCaches), run: one.run }],
    }))

/** Caches over HTTP beside the gRPC calls of the same size at the same server, and beside Node's HTTP server alone. */
export const httpCacheCases = (): readonly RateCase[] => [
  ...sized.flatMap((size) => kinds.flatMap((kind) => [putCase(kind, size), getCase(kind, size)])),
  ...sized.filter(({ bytes }) => bytes <= MIB).flatMap(besideThreads),
]
