import { Worker } from 'node:worker_threads'
import { StatusError } from '../../base/status-error.js'
import { BatchMemory } from './batch-memory.js'
import type { WriteFailure, WriteThreadData } from './write-thread.js'

/** What a thread runs, compiled or not. */
export const THREAD_FILE = new URL(`./write-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/** Why some files could not be written; none when all were. */
type Settle = (outcome: readonly WriteFailure[] | StatusError) => void

/** One thread that writes batches of files, one batch at a time. */
export class WriteWorker {
  /** To be filled while the thread is free. */
  readonly memory = new BatchMemory()
  readonly #worker: Worker
  readonly #onOver: () => void
  #settle: Settle | undefined
  #isOver = false
  #hasBegun = false

  /** `onOver` is called when the thread ended, whatever the reason. */
  constructor(file: URL, data: Omit<WriteThreadData, 'shared'>, onOver: () => void) {
    this.#onOver = onOver
    const workerData: WriteThreadData = { ...data, shared: this.memory.shared }
    this.#worker = new Worker(file, { workerData, name: 'small files', stdin: false })
    this.#worker.unref()
    this.#worker.on('message', (failures: readonly WriteFailure[] | null) => {
      this.#hasBegun = true
      if (failures !== null) this.#answer(failures)
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

  /** Writes what was put into `memory`. The outcome is a StatusError only when the thread ends before it answers. */
  write(settle: Settle): void {
    this.#settle = settle
    // What is being written keeps the process alive, a thread at rest does not.
    this.#worker.ref()
    this.memory.send()
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }

  #answer(outcome: readonly WriteFailure[] | StatusError): void {
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
