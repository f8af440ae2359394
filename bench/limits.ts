import { type ChildProcess, fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { close, closeSync, mkdirSync, open, openSync, rename, renameSync, rmSync, writeSync, writev } from 'node:fs'
import { promisify } from 'node:util'
import type { Limit } from './case.js'
import type { LoadResult } from './load/request.js'
import { temporaryFolder } from './server/process.js'
import { cpuMicrosOf } from './server/usage.js'

const openFile = promisify(open)
const closeFile = promisify(close)
const renameFile = promisify(rename)
const writeFile = promisify(writev)

const clocked = async (requests: number, work: () => Promise<void>): Promise<LoadResult> => {
  const startMs = performance.now()
  await work()
  return { seconds: (performance.now() - startMs) / 1000, requests, latenciesMs: [] }
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

/** One core hashing what a request carries, in chunks of 64 KiB. */
export const sha256Limit = (blobsOf: () => readonly Buffer[]): Limit => ({
  name: 'SHA-256 alone',
  usesBare: false,
  run: async (_, requests) => {
    const blobs = blobsOf().map(chunksOf)
    const startMs = performance.now()
    let hashed = 0
    for (; hashed < requests || performance.now() - startMs < LEAST_MS; hashed++) {
      for (const chunks of blobs) {
        const hash = createHash('sha256')
        for (const chunk of chunks) hash.update(chunk)
        hash.digest('hex')
      }
    }
    return { seconds: (performance.now() - startMs) / 1000, requests: hashed, latenciesMs: [] }
  },
})

const FOLDERS = 256

/** The fastest that Node has for small files, because nothing goes to the thread pool and back. */
const writeInTurn = async (folder: string, blobs: readonly Buffer[], count: number): Promise<void> => {
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
    await writeFile(file, parts[index % blobs.length] ?? [])
    await closeFile(file)
    await renameFile(path, `${folder}/${index % FOLDERS}/${index}`)
  })
}

/**
 * What a store of files cannot do without: create a file of a new name, write, close, move to one of 256 folders, which are
 * there before. Blobs of at most 64 KiB one after the other without the thread pool, larger ones as many at a time as the
 * case has.
 */
export const filesLimit = (blobsOf: () => readonly Buffer[], concurrency: number): Limit => ({
  name: 'file writes alone',
  usesBare: false,
  run: async (_, requests) => {
    const blobs = blobsOf()
    const folder = temporaryFolder()
    try {
      for (let name = 0; name < FOLDERS; name++) mkdirSync(`${folder}/${name}`)
      const count = requests * blobs.length
      const isSmall = blobs.every(({ length }) => length <= CHUNK_BYTES)
      return await clocked(requests, () =>
        isSmall ? writeInTurn(folder, blobs, count) : writeAtOnce(folder, blobs, count, concurrency),
      )
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
