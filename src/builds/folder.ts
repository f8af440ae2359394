import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errnoOf } from '../base/errno.js'
import type { Summary } from './summary.js'

const LOG = '.log'
const SUMMARY = '.json'
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

  logOf(key: string): string {
    return this.#file(key, LOG)
  }

  /** Makes the folder of a log. */
  async prepare(key: string): Promise<string> {
    const path = this.logOf(key)
    const folder = dirname(path)
    if (!this.#made.has(folder)) await mkdir(folder, { recursive: true, mode: 0o700 })
    this.#made.add(folder)
    return path
  }

  /** The keys of all logs. */
  async list(): Promise<string[]> {
    const names = await readdir(this.#path, { recursive: true })
    const keys = names.map((name) => name.slice(PREFIX_DIGITS + 1)).filter((name) => name.endsWith(LOG))
    return keys.map((name) => name.slice(0, -LOG.length)).filter((key) => KEY.test(key))
  }

  async sizeOf(key: string): Promise<number> {
    return (await stat(this.logOf(key))).size
  }

  /** Undefined if there is none that can be read: it is derived again. */
  async readSummary(key: string): Promise<Summary | undefined> {
    try {
      return JSON.parse(await readFile(this.#file(key, SUMMARY), 'utf8')) as Summary
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
      throw error
    }
  }

  async writeSummary(key: string, summary: Summary): Promise<void> {
    const path = this.#file(key, SUMMARY)
    await writeFile(`${path}.new`, JSON.stringify(summary), { mode: 0o600 })
    await rename(`${path}.new`, path)
  }

  async remove(key: string): Promise<void> {
    await rm(this.#file(key, SUMMARY), { force: true })
    await rm(this.logOf(key), { force: true })
  }

  #file(key: string, ending: string): string {
    return join(this.#path, key.slice(0, PREFIX_DIGITS), key + ending)
  }
}
