import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { writeHeapSnapshot } from 'node:v8'
import { memoryUsage } from '../base/memory-usage.js'
import { StatusError } from '../base/status-error.js'
import { numberOf } from './json.js'

const DEFAULT_S = 10
/** Connections over HTTP/1 last a minute. */
const MAX_S = 30

/** What a profile or a snapshot is about, for the log. */
export interface Taken {
  readonly body: string | Readable
  readonly sizeBytes: number
  /** How long nothing else ran. */
  readonly pausedMs: number
}

/** Looks into this process for an operator: one look at a time, because each costs what clients need. */
export class Diagnostics {
  #busyWith: string | undefined

  /** Where the processor time goes, as a `.cpuprofile`. Ends early when the operator goes. */
  profile(query: URLSearchParams, signal: AbortSignal): Promise<Taken> {
    const seconds = numberOf(query, 'seconds', { least: 1, most: MAX_S, otherwise: DEFAULT_S })
    return this.#alone('a profile', async () => {
      const session = new Session()
      session.connect()
      try {
        await session.post('Profiler.enable')
        await session.post('Profiler.start')
        await pause(seconds * 1000, undefined, { signal }).catch(() => {})
        const { profile } = await session.post('Profiler.stop')
        const body = JSON.stringify(profile)
        return { body, sizeBytes: body.length, pausedMs: 0 }
      } finally {
        session.disconnect()
      }
    })
  }

  /**
   * All objects of the JavaScript heap, as a `.heapsnapshot`. V8 writes it in one go, so nothing else runs meanwhile; it goes to a file
   * and not to memory, and from there to the operator as fast as he reads.
   */
  heap(): Promise<Taken> {
    return this.#alone('a heap snapshot', async () => {
      refuseWithoutMemory()
      const folder = await mkdtemp(join(tmpdir(), 'remexec-heap-'))
      try {
        const startedMs = performance.now()
        const path = writeHeapSnapshot(join(folder, 'remexec.heapsnapshot'))
        const pausedMs = Math.round(performance.now() - startedMs)
        const { size } = await stat(path)
        // Below the 65,535 bytes that clients over HTTP/2 accept at first, so that a chunk does not wait for a window.
        const body = createReadStream(path, { highWaterMark: 32 * 1024 })
        // Once it is open, the file needs no name.
        await new Promise((resolve, reject) => body.once('open', resolve).on('error', reject))
        return { body, sizeBytes: size, pausedMs }
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  }

  async #alone<T>(what: string, work: () => Promise<T>): Promise<T> {
    if (this.#busyWith !== undefined) {
      throw new StatusError('ABORTED', `${this.#busyWith} is being taken, expected one at a time: try again after it`)
    }
    this.#busyWith = what
    try {
      return await work()
    } finally {
      this.#busyWith = undefined
    }
  }
}

/** V8 needs about the size of the heap again for its graph. */
const refuseWithoutMemory = (): void => {
  const { heapBytes } = memoryUsage()
  const freeBytes = process.availableMemory()
  if (freeBytes > heapBytes) return
  const [heap, free] = [heapBytes, freeBytes].map((bytes) => `${Math.ceil(bytes / 1024 ** 2)} MiB`)
  throw new StatusError(
    'FAILED_PRECONDITION',
    `a heap snapshot of ${heap} needs as much memory again, and ${free} are free`,
  )
}
