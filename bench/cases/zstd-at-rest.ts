import { randomBytes } from 'node:crypto'
import { zstdCompress } from '../../src/stream/compression/zstd.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { checkWrite, digestOf, MIB, write } from '../content.js'
import { each } from '../load/each.js'
import { repeat } from '../load/h2load.js'
import type { Request } from '../load/request.js'
import { filesystemCache, zstdCache } from '../server/config.js'
import { type ServerProcess, startRemexec } from '../server/process.js'
import { readRequestOf } from './read.js'
import { freshBlob } from './sizes.js'

const SIZE_MIB = 16
const BYTES = SIZE_MIB * MIB
const READS = 12
const WRITES = 6

type Wire = 'identity' | 'zstd'

interface Content {
  readonly name: string
  fresh(): Buffer
}

const contents: readonly Content[] = [
  { name: 'text', fresh: () => freshBlob(BYTES, true) },
  { name: 'noise', fresh: () => randomBytes(BYTES) },
]

const upload = (server: ServerProcess, blob: Buffer, wire: Wire): Request =>
  write(server, blob, wire === 'zstd' ? zstdCompress(blob) : undefined)

/** Milliseconds of the server's CPU for a MiB of the blob. */
const cpuOf = async (server: ServerProcess, mib: number, work: () => Promise<unknown>): Promise<number> => {
  await server.begin()
  await work()
  return (await server.end()).cpuMicros / 1000 / mib
}

const writing = async (server: ServerProcess, content: Content, wire: Wire): Promise<number> => {
  const calls = Array.from({ length: WRITES }, () => upload(server, content.fresh(), wire))
  return cpuOf(server, WRITES * SIZE_MIB, () =>
    each(server, calls, { concurrency: 2, ...(wire === 'identity' ? { check: checkWrite(BYTES) } : {}) }),
  )
}

const reading = async (server: ServerProcess, blob: Buffer, wire: Wire): Promise<number> => {
  const form = wire === 'zstd' ? 'compressed-blobs/zstd' : 'blobs'
  const request = readRequestOf(server, digestOf(blob), form)
  return cpuOf(server, READS * SIZE_MIB, () => repeat(server, request, { requests: READS, concurrency: 2 }))
}

type Measure = (server: ServerProcess, wire: Wire) => Promise<number>

async function* observe({ cli, profileFolder, rounds }: Builds): AsyncGenerator<Observation> {
  const atRest = await startRemexec(zstdCache, { cli, profileFolder })
  const plain = await startRemexec(filesystemCache, { cli })
  try {
    for (const content of contents) {
      const blob = content.fresh()
      // Each server gets the blob to read as the clients whose traffic is measured send it.
      await each(atRest, [upload(atRest, blob, 'zstd')], { concurrency: 1 })
      await each(plain, [upload(plain, blob, 'identity')], { concurrency: 1 })
      const measures: [string, Measure][] = [
        [`CPU of a MiB of ${content.name} written`, (server, wire) => writing(server, content, wire)],
        [`CPU of a MiB of ${content.name} read`, (server, wire) => reading(server, blob, wire)],
      ]
      for (const [name, measure] of measures) yield* compare(name, measure, { atRest, plain, rounds })
    }
  } finally {
    await Promise.all([atRest.stop(), plain.stop()])
  }
}

interface Sides {
  readonly atRest: ServerProcess
  readonly plain: ServerProcess
  readonly rounds: number
}

async function* compare(name: string, measure: Measure, { atRest, plain, rounds }: Sides): AsyncGenerator<Observation> {
  const values: Record<Wire, number[]> = { zstd: [], identity: [] }
  const beside: number[] = []
  // The first round warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    const triple = [await measure(atRest, 'zstd'), await measure(atRest, 'identity'), await measure(plain, 'identity')]
    const [zstd = 0, identity = 0, of = 0] = triple
    if (round === 0) continue
    values.zstd.push(zstd)
    values.identity.push(identity)
    beside.push(of)
  }
  for (const wire of ['zstd', 'identity'] as const) {
    const limit = { name: 'identity, kept as identity', values: beside }
    yield { name: `${name} as ${wire}`, unit: 'ms', values: values[wire], beside: limit }
  }
}

/** Blobs kept in zstd beside blobs kept as they are: what a MiB of the blob costs the server, however it is sent. */
export const zstdAtRestCases = (): readonly EventCase[] => [
  { kind: 'event', name: 'zstd at rest', isSlow: true, observe },
]
