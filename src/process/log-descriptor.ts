import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { errnoOf, inWords } from '../base/errno.js'
import type { HealthProbe, HealthStatus } from '../base/health.js'
import { guardedTimeout } from '../base/timers.js'
import type { Output } from './gathered-output.js'

/** Maximum number of bytes that wait for the reader of a pipe. Further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024
/** Delay before waiting bytes are written again. */
const RETRY_MS = 100
/** Delay before the next write after a failure. */
const RECOVERY_MS = 1000
/** How long the exit of the process waits for the reader of a pipe. */
const FAREWELL_MS = 1000
const FAREWELL_STEP_MS = 10

const LINE_FEED = 0x0a
const NOTHING = Buffer.alloc(0)

const SLOW_READER = 'its reader is too slow'

/**
 * Standard error as an output that never fails and never blocks. Lines that cannot be written are dropped and counted.
 * A notice with their number takes their place once writing works again.
 * Does not use `process.stderr`. That stream throws or emits 'error' when a write fails, writes nothing after a failure
 * of a file, and buffers without a bound if a pipe is full.
 */
export class LogDescriptor implements Output {
  readonly isTTY: boolean
  /** Formats the notice that replaces lost lines. */
  noticeOf = (lines: number, reason: string): string => `${lines} lines of the log were lost: ${reason}\n`
  /** Called at the first lost line. The log then becomes a component of the health report. */
  onFirstLoss = (): void => {}
  readonly #descriptor: number
  #waiting: Buffer = NOTHING
  /** Why lines were lost recently; undefined once all waiting bytes were written. */
  #failure: string | undefined
  #lostLines = 0
  /** Lost lines that no notice has reported yet. */
  #untoldLines = 0
  /** The waiting notice: its bytes, which come first, and the number of lines that it reports. */
  #noticeBytes = 0
  #noticeLines = 0
  /** The last written line is incomplete. */
  #isTorn = false
  #retry: NodeJS.Timeout | undefined

  /** `stream` is Node's stream for the descriptor. */
  constructor(stream: { readonly fd: number; readonly isTTY?: boolean }) {
    this.#descriptor = ownDescriptor(stream.fd)
    this.isTTY = stream.isTTY === true
  }

  /** Since the start. */
  get lostLines(): number {
    return this.#lostLines
  }

  write(text: string): void {
    const bytes = Buffer.from(text)
    if (this.#waiting.length === 0) this.#beginNotice()
    // After a lost line, all lines are lost until a notice can be written first.
    if (this.#untoldLines > 0 || this.#waiting.length + bytes.length > MAX_WAITING_BYTES) this.#lose(bytes, SLOW_READER)
    else this.#waiting = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes])
    this.#drain()
  }

  /** Call before the process exits. Gives the reader of a pipe a moment to take the waiting bytes. */
  close(): void {
    for (let waitedMs = 0; this.#waiting.length > 0 && waitedMs < FAREWELL_MS; waitedMs += FAREWELL_STEP_MS) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FAREWELL_STEP_MS)
      this.#drain()
    }
  }

  get probe(): HealthProbe {
    return { namespace: '/log', component: 'log', structName: 'LogDescriptor', check: async () => this.#health() }
  }

  #health(): HealthStatus {
    const lost = `lines lost since the start: ${this.#lostLines}`
    if (this.#failure === undefined) return { state: 'Ok', message: lost }
    return { state: 'Warning', message: `the log cannot be written, ${this.#failure}; ${lost}` }
  }

  /** Writes as much as is possible now. */
  #drain(): void {
    clearTimeout(this.#retry)
    try {
      do {
        while (this.#waiting.length > 0) this.#took(writeSync(this.#descriptor, this.#waiting))
        this.#beginNotice()
      } while (this.#waiting.length > 0)
      this.#failure = undefined
    } catch (error) {
      const isFull = errnoOf(error) === 'EAGAIN'
      if (!isFull) this.#failed(error)
      this.#retry = guardedTimeout(() => this.#drain(), isFull ? RETRY_MS : RECOVERY_MS).unref()
    }
  }

  #took(sizeBytes: number): void {
    this.#isTorn = this.#waiting[sizeBytes - 1] !== LINE_FEED
    this.#noticeBytes = Math.max(0, this.#noticeBytes - sizeBytes)
    this.#waiting = this.#waiting.subarray(sizeBytes)
  }

  #beginNotice(): void {
    if (this.#untoldLines === 0) return
    const notice = this.noticeOf(this.#untoldLines, this.#failure ?? SLOW_READER)
    this.#waiting = Buffer.from(this.#isTorn ? `\n${notice}` : notice)
    this.#noticeBytes = this.#waiting.length
    this.#noticeLines = this.#untoldLines
    this.#untoldLines = 0
  }

  /** The waiting bytes cannot be written and are lost. */
  #failed(error: unknown): void {
    const lines = this.#waiting.subarray(this.#noticeBytes)
    if (this.#noticeBytes > 0) this.#untoldLines += this.#noticeLines
    this.#noticeBytes = 0
    this.#waiting = NOTHING
    this.#lose(lines, inWords(error))
  }

  #lose(bytes: Buffer, reason: string): void {
    let lines = 0
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) lines += 1
    if (lines > 0 && this.#lostLines === 0) this.onFirstLoss()
    this.#untoldLines += lines
    this.#lostLines += lines
    this.#failure = reason
  }
}

/**
 * A pipe opened once more, without blocking. The flags of the given descriptor are shared with the parent and with other children of it,
 * any of which may make it block. If the pipe cannot be opened, as one of another user, the given descriptor.
 */
const ownDescriptor = (fd: number): number => {
  try {
    if (!fstatSync(fd).isFIFO()) return fd
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return fd
  }
}
