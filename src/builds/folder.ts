import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { errnoOf } from '../base/errno.js'
import type { FolderFormat } from '../files/folder-format.js'
import { syncFolder } from '../files/sync-folder.js'
import { SUMMARY_VERSION, type Summary } from './summary.js'

export const FORMAT: FolderFormat = {
  what: 'path of build_events',
  current: 1,
  otherwise: 'name another path: the builds there are not shown meanwhile',
}

const LOG = '.log'
const SUMMARY = '.json'
const HISTORY = 'tests.jsonl'
const KEY = /^[0-9a-f]{32}$/
/** Hexadecimal digits of a key that name its subfolder, so that no folder has more than some thousand files. */
const PREFIX_DIGITS = 2

/** The files of kept invocations: `ab/KEY.log` and, derived from it, `ab/KEY.json`. */
export class Folder {
  readonly #path: string
  readonly #made = new Set<string>()

  constructor(path: string) {
    this.#path = path
  }

  /** Beside the logs. */
  get historyPath(): string {
    return join(this.#path, HISTORY)
  }

  logOf(key: string): string {
    return this.#file(key, LOG)
  }

  /** Makes the folder of a log. */
  async prepare(key: string): Promise<string> {
    const path = this.logOf(key)
    const folder = dirname(path)
    if (this.#made.has(folder)) return path
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await syncFolder(this.#path)
    this.#made.add(folder)
    return path
  }

  /** The keys of all logs. */
  async list(): Promise<string[]> {
    const names = await readdir(this.#path, { recursive: true })
    const keys = names.map((name) => name.slice(PREFIX_DIGITS + 1)).filter((name) => name.endsWith(LOG))
    return keys.map((name) => name.slice(0, -LOG.length)).filter((key) => KEY.test(key))
  }

  /** Rejects if there is no log that can be looked at. */
  async aboutLog(key: string): Promise<{ readonly sizeBytes: number; readonly changedMs: number }> {
    const { size, mtimeMs } = await stat(this.logOf(key))
    return { sizeBytes: size, changedMs: mtimeMs }
  }

  /** Undefined if there is none, or one that is damaged, of another version or not readable: it is derived again. */
  async readSummary(key: string): Promise<Summary | undefined> {
    try {
      return summaryIn(await readFile(this.#file(key, SUMMARY), 'utf8'))
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
      return undefined
    }
  }

  async writeSummary(key: string, summary: Summary): Promise<void> {
    const path = this.#file(key, SUMMARY)
    const text = JSON.stringify(summary)
    await writeFile(`${path}.new`, `${checksum(text)} ${text}`, { mode: 0o600 })
    try {
      await rename(`${path}.new`, path)
    } catch (error) {
      if (errnoOf(error) !== 'EISDIR') throw error
      // Nothing of ours is a folder there.
      await rm(path, { recursive: true, force: true })
      await rename(`${path}.new`, path)
    }
  }

  async remove(key: string): Promise<void> {
    await rm(this.#file(key, SUMMARY), { recursive: true, force: true })
    await rm(this.logOf(key), { force: true })
  }

  #file(key: string, ending: string): string {
    return join(this.#path, key.slice(0, PREFIX_DIGITS), key + ending)
  }
}

const CHECKSUM_LENGTH = 8

const checksum = (text: string): string => crc32(text).toString(16).padStart(CHECKSUM_LENGTH, '0')

/** A checksum, a blank, and the summary as JSON. */
const summaryIn = (file: string): Summary | undefined => {
  const text = file.slice(CHECKSUM_LENGTH + 1)
  if (file.slice(0, CHECKSUM_LENGTH + 1) !== `${checksum(text)} `) return undefined
  const summary = JSON.parse(text) as Summary
  return summary.version === SUMMARY_VERSION ? summary : undefined
}
