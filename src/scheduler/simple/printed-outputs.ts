import { guardedTimeout } from '../../base/timers.js'
import type { PrintedOffsets, PrintedOutput, WorkerLink } from '../scheduler.js'

/** Questions that no worker has answered. Further ones are not asked. */
const MAX_PENDING = 256
/** A worker of an older release does not answer; somebody waits for the page. */
const PATIENCE_MS = 1000
/** Of each output. A worker may send more than it was asked for. */
const MAX_BYTES = 64 * 1024

interface Pending {
  readonly link: WorkerLink
  readonly end: (printed: PrintedOutput | undefined) => void
}

/** Questions to workers about what attempts have printed so far. Nothing is held but the answer that is on its way. */
export class PrintedOutputs {
  readonly #pending = new Map<number, Pending>()
  #last = 0

  /** Undefined if the attempt does not run there, or the worker does not answer. */
  ask(link: WorkerLink, attemptId: string, offsets: PrintedOffsets): Promise<PrintedOutput | undefined> {
    if (this.#pending.size >= MAX_PENDING) return Promise.resolve(undefined)
    this.#last = (this.#last + 1) % 2 ** 32
    const id = this.#last
    return new Promise((resolve) => {
      const timer = guardedTimeout(() => pending.end(undefined), PATIENCE_MS)
      const pending: Pending = {
        link,
        end: (printed) => {
          clearTimeout(timer)
          this.#pending.delete(id)
          resolve(printed)
        },
      }
      this.#pending.set(id, pending)
      link.readPrinted({ id, attemptId, maxBytes: MAX_BYTES, ...offsets })
    })
  }

  /** What a worker says. Answers that nobody asked this worker for are ignored. */
  answered(link: WorkerLink, id: number, printed: PrintedOutput | undefined): void {
    const pending = this.#pending.get(id)
    if (pending?.link === link)
      pending.end(printed && { stdout: lastOf(printed.stdout), stderr: lastOf(printed.stderr) })
  }
}

const lastOf = ({ bytes, sizeBytes }: PrintedOutput['stdout']): PrintedOutput['stdout'] => ({
  bytes: bytes.length > MAX_BYTES ? bytes.subarray(-MAX_BYTES) : bytes,
  sizeBytes,
})
