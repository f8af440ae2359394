import { type ChildProcess, fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { close, closeSync, mkdirSync, open, openSync, rename, renameSync, rmSync, writeSync, writev } from 'node:fs'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from '../src/stream/compression/zstd.js'
import { parseZstdFrame } from '../src/stream/compression/zstd-frame.js'
import type { Limit } from './case.js'
import type { LoadResult } from './load/request.js'
import type { Place } from './server/place.js'
import { temporaryFolder } from './server/process.js'
import { cpuMicrosOf } from './server/usage.js'

const openFile = promisify(open)
const closeFile = promisify(close)
const renameFile = promisify(rename)
const writeFile = (file: number, parts: readonly Buffer[]): Promise<number> =>
  new Promise((resolve, reject) => {
    writev(file, parts, (error, written) => (error === null ? resolve(written) : reject(error)))
  })

/** What the work took of this process, without what came before and what is cleaned up behind it. */
const clocked = async (work: () => number | Promise<number>): Promise<LoadResult> => {
  const before = process.cpuUsage()
  const startMs = performance.now()
  const requests = await work()
  const seconds = (performance.now() - startMs) / 1000
  const { user, system } = process.cpuUsage(before)
  return { seconds, requests, latenciesMs: [], cpuMicros: user + system }
}

/** So many lanes take the next number until `count` are taken. */
const inLanes = async (count: number, lanes: number, work: (index: number) => Promise<void>): Promise<void> => {
  let next = 0
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

const CHUNK_BYTES = 64 << 10

const chunksOf = (bytes: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, index) =>
    bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
  )

/** Shorter than this a clock of processes says little. */
const LEAST_MS = 50

/** One core of this process doing again and again what one request needs of it. */
const coreLimit = (name: string, prepare: () => () => void): Limit => ({
  name,
  usesBare: false,
  run: (_, requests) => {
    const work = prepare()
    return clocked(() => {
      const startMs = performance.now()
      let done = 0
      for (; done < requests || performance.now() - startMs < LEAST_MS; done++) work()
      return done
    })
  },
})

/** One core hashing what a request carries, in chunks of 64 KiB. */
export const sha256Limit = (blobsOf: () => readonly Buffer[]): Limit =>
  coreLimit('SHA-256 alone', () => {
    const blobs = blobsOf().map(chunksOf)
    return () => {
      for (const chunks of blobs) {
        const hash = createHash('sha256')
        for (const chunk of chunks) hash.update(chunk)
        hash.digest('hex')
      }
    }
  })

/** One core compressing whole blobs with a context that is there before. */
export const compressionLimit = (blobOf: () => Buffer): Limit =>
  coreLimit('zstd compression alone', () => {
    const blob = blobOf()
    return () => void zstdCompress(blob)
  })

/** The way back: what has to be done to a compressed upload before its digest can be known. */
export const decompressionLimit = (wireOf: () => Buffer): Limit =>
  coreLimit('zstd decompression alone', () => {
    const wire = wireOf()
    const frame = parseZstdFrame(wire)
    const sizeBytes = frame?.kind === 'content' ? (frame.contentBytes ?? 0) : 0
    return () => void zstdDecompress(wire, sizeBytes)
  })

const FOLDERS = 256

/** The fastest that Node has for small files, because nothing goes to the thread pool and back. */
const writeInTurn = (folder: string, blobs: readonly Buffer[], count: number): void => {
  for (let index = 0; index < count; index++) {
    const path = `${folder}/${index}.part`
    const file = openSync(path, 'wx')
    writeSync(file, blobs[index % blobs.length] ?? Buffer.alloc(0))
    closeSync(file)
    renameSync(path, `${folder}/${index % FOLDERS}/${index}`)
  }
}

const writeAtOnce = (folder: string, blobs: readonly Buffer[], count: number, concurrency: number): Promise<void> => {
  const parts = blobs.map(chunksOf)
  return inLanes(count, concurrency, async (index) => {
    const path = `${folder}/${index}.part`
    const file = await openFile(path, 'wx')
    const { length = 0 } = blobs[index % blobs.length] ?? {}
    const written = await writeFile(file, parts[index % blobs.length] ?? [])
    if (written !== length) throw new Error(`${written} of ${length} bytes were written`)
    await closeFile(file)
    await renameFile(path, `${folder}/${index % FOLDERS}/${index}`)
  })
}

/**
 * What a store of files cannot do without: create a file of a new name, write, close, move to one of 256 folders, which are
 * there before. Blobs of at most 64 KiB one after the other without the thread pool, larger ones as many at a time as the
 * case has.
 */
export const filesLimit = (blobsOf: () => readonly Buffer[], concurrency: number, place?: Place): Limit => ({
  name: 'file writes alone',
  usesBare: false,
  run: async (_, requests) => {
    const blobs = blobsOf()
    const folder = temporaryFolder(place)
    try {
      for (let name = 0; name < FOLDERS; name++) mkdirSync(`${folder}/${name}`)
      const count = requests * blobs.length
      const isSmall = blobs.every(({ length }) => length <= CHUNK_BYTES)
      return await clocked(async () => {
        if (isSmall) writeInTurn(folder, blobs, count)
        else await writeAtOnce(folder, blobs, count, concurrency)
        return requests
      })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
})

/** Actions that run at a time, and spawns of the limit beside them. */
export const SPAWN_LANES = 16

let spawner: ChildProcess | undefined

/** `/bin/true` from a small Node process of its own: what a spawn costs grows with the memory of the one who spawns. */
export const spawnLimit: Limit = {
  name: 'spawn alone',
  usesBare: false,
  run: async (_, count) => {
    if (spawner === undefined) {
      spawner = fork(new URL('server/spawns.mjs', import.meta.url), { execArgv: [] })
      spawner.unref()
      spawner.channel?.unref()
    }
    spawner.channel?.ref()
    const before = spawner.pid === undefined ? Number.NaN : cpuMicrosOf(spawner.pid)
    spawner.send({ count, lanes: SPAWN_LANES, program: '/bin/true' })
    const [seconds] = (await once(spawner, 'message')) as [number]
    spawner.channel?.unref()
    const cpuMicros = spawner.pid === undefined ? Number.NaN : cpuMicrosOf(spawner.pid) - before
    return { seconds, requests: count, latenciesMs: [], cpuMicros }
  },
}
