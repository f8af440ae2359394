import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf } from '../base/errno.js'

/** What an action of the go command has put. */
export interface GoEntry {
  /** Lower-case hex. */
  readonly outputId: string
  readonly sizeBytes: number
  readonly timeMs: number
}

/** Writes content, piece by piece. */
export type Fill = (write: (bytes: Buffer) => Promise<void>) => Promise<void>

const DAY_MS = 24 * 3600 * 1000
/** What was not used for so long is removed, as the go command does with its own cache. */
const UNUSED_MS = 5 * DAY_MS
/** The time of use is noted at most so often. */
const NOTED_MS = 3600 * 1000

/** The local folder that the go command reads: an entry for each action, a file for each output. Several processes may share it. */
export class GoFolder {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** Makes the folder, and removes what nobody uses any more, at most once a day. */
  async open(): Promise<void> {
    for (const part of PARTS) await mkdir(join(this.#path, part), { recursive: true })
    const marker = join(this.#path, 'trimmed')
    const { mtimeMs } = await orNothing(stat(marker), { mtimeMs: 0 })
    if (Date.now() - mtimeMs < DAY_MS) return
    await writeFile(marker, '')
    for (const part of PARTS) {
      for (const name of await readdir(join(this.#path, part))) await this.#trim(join(this.#path, part, name))
    }
  }

  /** Where the output lies for the go command. */
  pathOf(outputId: string): string {
    return join(this.#path, 'outputs', outputId)
  }

  /** Undefined unless entry and output are there. */
  async find(actionId: string): Promise<GoEntry | undefined> {
    const path = join(this.#path, 'actions', actionId)
    const text = await orNothing(readFile(path, 'utf8'), '')
    const [, outputId = '', size = '', time = ''] = ENTRY.exec(text) ?? []
    if (outputId === '') return undefined
    const output = this.pathOf(outputId)
    const { size: found, mtimeMs } = await orNothing(stat(output), { size: -1, mtimeMs: 0 })
    if (found !== Number(size)) return undefined
    if (Date.now() - mtimeMs > NOTED_MS) {
      const now = new Date()
      await Promise.all([utimes(path, now, now), utimes(output, now, now)])
    }
    return { outputId, sizeBytes: found, timeMs: Number(time) }
  }

  /** Writes an output and its entry. Both appear whole or not at all. */
  async put(actionId: string, entry: GoEntry, fill: Fill): Promise<void> {
    await this.#write(this.pathOf(entry.outputId), fill)
    const text = Buffer.from(`${entry.outputId} ${entry.sizeBytes} ${entry.timeMs}\n`)
    await this.#write(join(this.#path, 'actions', actionId), (write) => write(text))
  }

  async #write(path: string, fill: Fill): Promise<void> {
    const temporary = `${path}.${randomUUID()}`
    const file = await open(temporary, 'wx', 0o600)
    try {
      await fill((bytes) => file.writeFile(bytes))
      await file.close()
      await rename(temporary, path)
    } catch (error) {
      await file.close()
      await unlink(temporary)
      throw error
    }
  }

  async #trim(path: string): Promise<void> {
    const { mtimeMs } = await orNothing(stat(path), { mtimeMs: Date.now() })
    if (Date.now() - mtimeMs > UNUSED_MS) await orNothing(unlink(path), undefined)
  }
}

const PARTS = ['actions', 'outputs']
const ENTRY = /^([0-9a-f]{1,128}) (\d+) (\d+)\n$/

/** Another process may have removed it. */
const orNothing = async <T, N>(work: Promise<T>, nothing: N): Promise<T | N> => {
  try {
    return await work
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return nothing
    throw error
  }
}
