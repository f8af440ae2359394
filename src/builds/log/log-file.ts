import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../../files/sync-folder.js'
import {
  type BlockHead,
  decodeBlock,
  decodeHead,
  encodeBlock,
  HEADER_BYTES,
  isWhole,
  type LogState,
  NO_STATE,
} from './block.js'
import type { EventRecord } from './record.js'

/** The log of one invocation, open for appending: blocks behind each other, each synced before its events count. */
export class LogFile {
  readonly #handle: FileHandle
  readonly #folder: string
  /** Whether its name is on disk for certain: a crash may have come between the log and the sync of its folder. */
  #isNamed = false
  #sizeBytes: number
  #state: LogState

  private constructor(handle: FileHandle, folder: string, sizeBytes: number, state: LogState) {
    this.#handle = handle
    this.#folder = folder
    this.#sizeBytes = sizeBytes
    this.#state = state
  }

  /** Opens or makes the file. A last block that was not written completely is cut off: its events were not acknowledged. */
  static async open(path: string): Promise<LogFile> {
    const handle = await open(path, 'a+', 0o600)
    try {
      const { state, endBytes } = await lastState(handle)
      if (endBytes < (await handle.stat()).size) await handle.truncate(endBytes)
      return new LogFile(handle, dirname(path), endBytes, state)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Of the blocks that are on disk. */
  get state(): LogState {
    return this.#state
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Resolves once the records are on disk. One call at a time; after a failure the file must be opened again. */
  async append(records: readonly EventRecord[], state: LogState): Promise<void> {
    const block = await encodeBlock(records, state)
    await this.#handle.appendFile(block)
    await this.#handle.datasync()
    if (!this.#isNamed) await syncFolder(this.#folder)
    this.#isNamed = true
    this.#sizeBytes += block.length
    this.#state = state
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}

/** The state behind the last whole block. Only the last block can be torn, because each is synced before the next. */
const lastState = async (handle: FileHandle): Promise<{ readonly state: LogState; readonly endBytes: number }> => {
  let state = NO_STATE
  let endBytes = 0
  let last: { readonly head: BlockHead; readonly at: number; readonly before: LogState } | undefined
  for (;;) {
    const head = decodeHead(await readAt(handle, endBytes, HEADER_BYTES))
    if (head === undefined) break
    last = { head, at: endBytes, before: state }
    state = head.state
    endBytes += HEADER_BYTES + head.packedBytes
  }
  if (last === undefined || isWhole(last.head, await readAt(handle, last.at + HEADER_BYTES, last.head.packedBytes)))
    return { state, endBytes }
  return { state: last.before, endBytes: last.at }
}

/** Less at the end of the file. */
const readAt = async (handle: FileHandle, position: number, sizeBytes: number): Promise<Buffer> => {
  const buffer = Buffer.allocUnsafe(sizeBytes)
  let filled = 0
  while (filled < sizeBytes) {
    const { bytesRead } = await handle.read(buffer, filled, sizeBytes - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

export interface ReadBlock {
  readonly records: Iterable<EventRecord>
  /** Where the next block begins. */
  readonly endBytes: number
  readonly isFinished: boolean
}

/** Resolves with a function that gives the memory back, once there is room for so many bytes. */
export type Room = (sizeBytes: number) => Promise<() => void>

const FREE: Room = async () => () => {}

/** A build that sends few events at a time has thousands of blocks of some hundred bytes, and each read waits for a thread. */
const AHEAD_BYTES = 64 * 1024

/** Reads a file in larger pieces than it is asked for. */
class Ahead {
  readonly #handle: FileHandle
  #from = 0
  #bytes: Buffer = Buffer.alloc(0)

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  /** Less at the end of the file. */
  async at(position: number, sizeBytes: number): Promise<Buffer> {
    if (sizeBytes > AHEAD_BYTES) return readAt(this.#handle, position, sizeBytes)
    const start = position - this.#from
    if (start >= 0 && start + sizeBytes <= this.#bytes.length) return this.#bytes.subarray(start, start + sizeBytes)
    this.#bytes = await readAt(this.#handle, position, AHEAD_BYTES)
    this.#from = position
    return this.#bytes.subarray(0, sizeBytes)
  }
}

/** The blocks of a log from a position on, up to `untilBytes` or to the end of what was written completely. */
export async function* readBlocks(
  path: string,
  fromBytes = 0,
  untilBytes = Number.POSITIVE_INFINITY,
  room = FREE,
): AsyncGenerator<ReadBlock, void, undefined> {
  const handle = await open(path)
  try {
    const bytes = new Ahead(handle)
    let at = fromBytes
    while (at < untilBytes) {
      const head = decodeHead(await bytes.at(at, HEADER_BYTES))
      if (head === undefined) return
      const release = await room(head.packedBytes + head.plainBytes + AHEAD_BYTES)
      try {
        const packed = await bytes.at(at + HEADER_BYTES, head.packedBytes)
        if (packed.length < head.packedBytes) return
        at += HEADER_BYTES + head.packedBytes
        yield { records: await decodeBlock(head, packed), endBytes: at, isFinished: head.state.isFinished }
      } finally {
        release()
      }
    }
  } finally {
    await handle.close()
  }
}
