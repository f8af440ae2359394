import { Worker } from 'node:worker_threads'
import { StatusError } from '../../base/status-error.js'
import type { FileToWrite, Written } from './write-thread.js'

/** What one message to a thread may carry. */
export const BATCH_BYTES = 256 * 1024

/** What a thread runs, compiled or not. */
export const THREAD_FILE = new URL(`./write-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

type Settle = (outcome: readonly Written[] | StatusError) => void

/** One thread that writes batches of files, one batch at a time. */
export class WriteWorker {
  readonly #memory = new SharedArrayBuffer(BATCH_BYTES)
  readonly #bytes = new Uint8Array(this.#memory)
  readonly #worker: Worker
  readonly #onOver: () => void
  #settle: Settle | undefined
  #isOver = false
  #hasBegun = false

  /** `onOver` is called when the thread ended, whatever the reason. */
  constructor(file: URL, onOver: () => void) {
    this.#onOver = onOver
    this.#worker = new Worker(file, { workerData: this.#memory, name: 'small files', stdin: false })
    this.#worker.unref()
    this.#worker.on('message', (written: readonly Written[] | null) => {
      this.#hasBegun = true
      if (written !== null) this.#answer(written)
    })
    this.#worker.on('error', (cause) => this.#fail(cause))
    this.#worker.on('exit', () => this.#fail(undefined))
  }

  /** False of a thread that has not written anything yet. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  get isFree(): boolean {
    return this.#settle === undefined && !this.#isOver
  }

  /** Together at most BATCH_BYTES; rejects only when the thread ends before it answers. */
  write(files: readonly FileToWrite[], contents: readonly Uint8Array[]): Promise<readonly Written[]> {
    let at = 0
    for (const bytes of contents) {
      this.#bytes.set(bytes, at)
      at += bytes.length
    }
    return new Promise((resolve, reject) => {
      this.#settle = (outcome) => (outcome instanceof StatusError ? reject(outcome) : resolve(outcome))
      // What is being written keeps the process alive, a thread at rest does not.
      this.#worker.ref()
      this.#worker.postMessage(files)
    })
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }

  #answer(outcome: readonly Written[] | StatusError): void {
    const settle = this.#settle
    this.#settle = undefined
    this.#worker.unref()
    settle?.(outcome)
  }

  /** An error comes before the end it leads to, which an unreferenced thread may not live to tell. */
  #fail(cause: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#answer(new StatusError('INTERNAL', 'the thread that writes small files ended', { cause }))
    this.#onOver()
  }
}
