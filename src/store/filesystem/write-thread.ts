import { closeSync, fstatSync, mkdirSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { BatchMemory, type SmallFile } from './batch-memory.js'
import { errnoOf } from './file-error.js'
import { FILE_MODE } from './open-file.js'

// What runs in a thread of SmallWrites: the same operations as elsewhere, one after the other and without a way back
// to the event loop between them.

export interface WriteThreadData {
  readonly shared: SharedArrayBuffer
  readonly contentPath: string
  /** What temporary files are called, with a number behind it. */
  readonly tempPrefix: string
  /** Where to note which files are being written where they belong; see `placings.ts`. */
  readonly placingsPath: string
}

/** A file of a batch that could not be written. Errors do not travel with their code. */
export interface WriteFailure {
  readonly index: number
  readonly errno: string
  readonly message: string
}

class WriteThread {
  readonly #data: WriteThreadData
  readonly #memory: BatchMemory
  #placings: number | undefined
  #tempCount = 0

  constructor(data: WriteThreadData) {
    this.#data = data
    this.#memory = new BatchMemory(data.shared)
  }

  receive(turn: number): void {
    this.#memory.receive(turn)
  }

  writeAll(): WriteFailure[] {
    const failures: WriteFailure[] = []
    const isNoted = this.#notePlacings()
    let index = 0
    for (const file of this.#memory.files()) {
      try {
        this.#memory.setMtimeMs(index, this.#write(file, isNoted))
      } catch (error) {
        failures.push({ index, errno: errnoOf(error), message: error instanceof Error ? error.message : String(error) })
      }
      index++
    }
    return failures
  }

  /** Whether files of this batch may be written in place. One write, whatever the size of the batch. */
  #notePlacings(): boolean {
    try {
      this.#placings ??= openSync(this.#data.placingsPath, 'w')
      const { names } = this.#memory
      return writeSync(this.#placings, names, 0, names.length, 0) === names.length
    } catch {
      // A full disk, most likely: it says so again where the files themselves are written.
      return false
    }
  }

  #write({ name, bytes, isNew }: SmallFile, isNoted: boolean): number {
    const path = `${this.#data.contentPath}/${name}`
    const fd = isNew && isNoted ? openNew(path) : undefined
    if (fd !== undefined) return orGone(path, () => fill(fd, bytes))
    const tempPath = `${this.#data.tempPrefix}${this.#tempCount++}`
    const temp = openSync(tempPath, 'wx', FILE_MODE)
    return orGone(tempPath, () => {
      const mtimeMs = fill(temp, bytes)
      inFolder(path, () => renameSync(tempPath, path))
      return mtimeMs
    })
  }
}

/** Undefined where there is a file of that name already. */
const openNew = (path: string): number | undefined => {
  try {
    return inFolder(path, () => openSync(path, 'wx', FILE_MODE))
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return undefined
    throw error
  }
}

/** A folder comes into being with its first blob: looking for it beforehand would cost every write. */
const inFolder = <T>(path: string, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    mkdirSync(dirname(path), { recursive: true })
    return work()
  }
}

/** Writes and closes a file; answers its modification time. */
const fill = (fd: number, bytes: Uint8Array): number => {
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done)
    return fstatSync(fd).mtimeMs
  } finally {
    closeSync(fd)
  }
}

/** Leaves no file behind what failed. */
const orGone = <T>(path: string, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    unlinkSync(path)
    throw error
  }
}

const isThreadData = (data: unknown): data is WriteThreadData =>
  typeof data === 'object' && data !== null && 'placingsPath' in data

if (parentPort !== null && isThreadData(workerData)) {
  const thread = new WriteThread(workerData)
  // Tells that from here on files may have been written.
  parentPort.postMessage(null)
  for (let turn = 0; ; turn++) {
    thread.receive(turn)
    parentPort.postMessage(thread.writeAll())
  }
}
