import { type FileHandle, open, rename, stat } from 'node:fs/promises'
import type { Clock } from '../base/clock.js'
import { inWords, startFailure } from '../base/errno.js'
import type { AuditLog as AuditLogOptions } from '../config/config.js'
import type { Log } from '../log/log.js'
import { SparingLog } from '../log/sparing-log.js'
import type { KeptResult } from '../rpc/kept-result.js'

/** One line. Text chosen by clients is shortened. */
export interface AuditEntry {
  /** `token ci`, `anonymous`; absent for a caller with wrong credentials. */
  readonly identity: string | undefined
  /** `host:port`. */
  readonly peer: string
  /** The path of a gRPC method; method and path of a request for a page, such as `PUT /admin/drain`. */
  readonly method: string
  /** Of a request for a page: its query, such as `worker=w1`. */
  readonly query?: string
  readonly instance?: string
  /** Of the caller in that instance; absent if it is trusted. */
  readonly scope?: string
  /** Why the call was refused; absent if it was not. */
  readonly refusal?: { readonly code: string; readonly reason: string }
}

/** Where the gates record what was asked. */
export interface AuditRecords {
  record(entry: AuditEntry): void
}

/** Bound on lines that wait for the disk. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
const LOOK_MS = 5_000
const MAX_TEXT = 500
const RATION = { lines: 6, periodMs: 60_000 }

/**
 * Records who asked for what, and whether it was permitted. If the disk is too slow, lines are lost and counted; calls
 * never wait.
 */
export class AuditLog implements AuditRecords {
  readonly #options: AuditLogOptions
  readonly #clock: Clock
  readonly #log: SparingLog
  readonly #stop: () => void
  #file: FileHandle
  #bytes: number
  #waiting: string[] = []
  #waitingBytes = 0
  #lostCount = 0
  #toldCount = 0
  #writing: Promise<void> = Promise.resolve()
  #isWriting = false

  private constructor(options: AuditLogOptions, { clock, log }: AuditParts, file: FileHandle, bytes: number) {
    this.#options = options
    this.#clock = clock
    this.#log = new SparingLog(log, clock, RATION)
    this.#file = file
    this.#bytes = bytes
    this.#stop = clock.every(LOOK_MS, () => this.#next(() => this.#followPath()))
  }

  /** FAILED_PRECONDITION if the file cannot be written. */
  static async open(options: AuditLogOptions, parts: AuditParts): Promise<AuditLog> {
    try {
      const file = await append(options.path)
      return new AuditLog(options, parts, file, (await file.stat()).size)
    } catch (error) {
      throw startFailure('security.audit_log.path', error)
    }
  }

  record(entry: AuditEntry): void {
    if (!isRecorded(entry, this.#options)) return
    const { identity, peer, method, query, instance, scope, refusal } = entry
    this.#add({
      identity: identity === undefined ? undefined : shortened(identity),
      peer,
      method: shortened(method),
      query: query === undefined ? undefined : shortened(query),
      instance: instance === undefined ? undefined : shortened(instance),
      scope,
      allowed: refusal === undefined,
      ...(refusal && { code: refusal.code, reason: shortened(refusal.reason) }),
    })
  }

  /** A line for a result of a worker that was kept, unless only refusals are recorded. */
  recordResult({ identity, instance, worker, workerIdentity, ...facts }: KeptResult): void {
    if (this.#options.calls !== 'all') return
    this.#add({
      identity: identity === undefined ? undefined : shortened(identity),
      instance: shortened(instance),
      ...facts,
      worker: shortened(worker),
      workerIdentity: workerIdentity === undefined ? undefined : shortened(workerIdentity),
    })
  }

  #add(fields: object): void {
    const line = `${JSON.stringify({ time: new Date(this.#clock.now()).toISOString(), ...fields })}\n`
    if (this.#waitingBytes + line.length > MAX_WAITING_BYTES) {
      this.#lostCount++
      this.#log.warn('the audit log does not keep up: lines are lost', { lines: this.#lostCount })
      return
    }
    this.#waiting.push(line)
    this.#waitingBytes += line.length
    if (this.#isWriting) return
    this.#isWriting = true
    this.#next(() => this.#write())
  }

  /** Which entries it takes. */
  get share(): Pick<AuditLogOptions, 'calls'> {
    return { calls: this.#options.calls }
  }

  /** Since the start. Lines that are being written count until they are. */
  get lostLines(): number {
    return this.#toldCount + this.#lostCount
  }

  /** Resolves when every recorded line is in the file or lost. */
  written(): Promise<void> {
    return this.#writing
  }

  async close(): Promise<void> {
    this.#stop()
    this.#next(() => this.#write())
    await this.#writing
    await this.#file.close()
  }

  /** Runs one operation on the file at a time. */
  #next(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work).catch((error: unknown) => {
      this.#log.warn('the audit log cannot be written', { reason: inWords(error) })
    })
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const lost = this.#lostCount
        const lostLine =
          lost === 0 ? '' : `${JSON.stringify({ time: new Date(this.#clock.now()).toISOString(), lost })}\n`
        const lines = this.#waiting
        const text = Buffer.from(`${lines.join('')}${lostLine}`)
        this.#waiting = []
        this.#waitingBytes = 0
        // Counted as lost until they are written.
        this.#lostCount += lines.length
        await this.#file.appendFile(text)
        this.#lostCount -= lines.length + lost
        this.#toldCount += lost
        this.#bytes += text.length
        if (this.#bytes >= this.#options.max_bytes) await this.#rotate()
      }
    } finally {
      this.#isWriting = false
    }
  }

  async #rotate(): Promise<void> {
    const { path, max_files: count } = this.#options
    for (let older = count; older > 0; older--) {
      await renamed(older === 1 ? path : `${path}.${older - 1}`, `${path}.${older}`)
    }
    await this.#reopen(count === 0)
  }

  /** Reopens the file if it was moved or removed (log rotation). */
  async #followPath(): Promise<void> {
    const [opened, there] = await Promise.all([this.#file.stat(), stat(this.#options.path).catch(() => undefined)])
    if (opened.ino !== there?.ino || opened.dev !== there.dev) await this.#reopen(false)
  }

  async #reopen(emptied: boolean): Promise<void> {
    const file = await append(this.#options.path)
    if (emptied) await file.truncate(0)
    await this.#file.close()
    this.#file = file
    this.#bytes = (await file.stat()).size
  }
}

export const isRecorded = ({ refusal }: AuditEntry, { calls }: Pick<AuditLogOptions, 'calls'>): boolean =>
  refusal !== undefined || calls === 'all'

export interface AuditParts {
  readonly clock: Clock
  readonly log: Log
}

/** Readable only by the user of the server. */
const append = (path: string): Promise<FileHandle> => open(path, 'a', 0o600)

const renamed = async (from: string, to: string): Promise<void> => {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

const shortened = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text)
