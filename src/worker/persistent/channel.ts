import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { guardedTimeout } from '../../base/timers.js'
import type { Libc } from '../command/libc.js'
import { ProcessFault } from './fault.js'
import { type Protocol, type ResponseReader, responseReader, type WorkResponse } from './protocol.js'

const CLOSE_ON_EXEC = 0o2000000
/** What is kept of stderr of a process, which belongs to none of its requests. */
const MAX_SAID_BYTES = 4 * 1024
/** An answer that has begun goes on within this time. */
const PAUSE_MS = 10_000

/** Descriptors for the process, to be closed once it has them. */
export interface FarEnds {
  readonly stdin: number
  readonly stdout: number
  readonly stderr: number
}

interface Waiting {
  readonly reader: ResponseReader
  readonly resolve: (response: WorkResponse) => void
  readonly reject: (fault: ProcessFault) => void
  readonly admit: (byBytes: number) => boolean
  pause: NodeJS.Timeout | undefined
}

/** The three streams of a persistent worker process. One request at a time. */
export class Channel {
  readonly #stdin: Socket
  readonly #stdout: Socket
  readonly #stderr: Socket
  readonly #protocol: Protocol
  readonly far: FarEnds
  #isFarOpen = true
  #waiting: Waiting | undefined
  #fault: ProcessFault | undefined
  #said = Buffer.alloc(0)
  readonly #ended: Promise<void>
  /** Called once with what makes the process useless while it has no request. */
  onFault: (fault: ProcessFault) => void = () => {}

  constructor(libc: Libc, protocol: Protocol) {
    this.#protocol = protocol
    const pipes = [pipeOf(libc), pipeOf(libc), pipeOf(libc)] as const
    const [input, output, errors] = pipes
    this.far = { stdin: input.from, stdout: output.to, stderr: errors.to }
    this.#stdin = new Socket({ fd: input.to, readable: false, writable: true })
    this.#stdout = new Socket({ fd: output.from, readable: true, writable: false })
    this.#stderr = new Socket({ fd: errors.from, readable: true, writable: false })
    // That it does not read any more shows in its end.
    this.#stdin.on('error', () => {})
    this.#stdout.on('error', () => {})
    this.#stderr.on('error', () => {})
    this.#stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#stderr.on('data', (chunk: Buffer) => {
      this.#said = Buffer.concat([this.#said, chunk]).subarray(-MAX_SAID_BYTES)
    })
    this.#ended = new Promise((resolve) => this.#stdout.once('close', () => resolve()))
  }

  /** The end of what the process wrote to stderr. */
  get said(): string {
    return this.#said.toString().trim()
  }

  /** The process has its descriptors, or will never have them. */
  started(): void {
    if (!this.#isFarOpen) return
    this.#isFarOpen = false
    for (const file of Object.values(this.far)) closeSync(file)
  }

  /**
   * Sends a request and waits for its answer; rejects with ProcessFault. `admit` reserves the bytes of the answer.
   */
  ask(request: Buffer, admit: (byBytes: number) => boolean): Promise<WorkResponse> {
    return new Promise((resolve, reject) => {
      if (this.#fault !== undefined) {
        reject(this.#fault)
        return
      }
      this.#waiting = { reader: responseReader(this.#protocol), resolve, reject, admit, pause: undefined }
      this.#stdin.write(request)
    })
  }

  /** Nothing more is sent. The process is expected to end. */
  end(): void {
    this.#stdin.end()
  }

  /** Ends what waits for an answer. */
  fail(fault: ProcessFault): void {
    const waiting = this.#take()
    if (waiting !== undefined) waiting.reject(fault)
    else if (this.#fault === undefined) {
      this.#fault = fault
      this.onFault(fault)
    }
    this.#fault ??= fault
  }

  /** Resolves when everything that the process wrote has been read, after its end. */
  drained(): Promise<void> {
    return this.#ended
  }

  close(): void {
    this.started()
    clearTimeout(this.#waiting?.pause)
    for (const socket of [this.#stdin, this.#stdout, this.#stderr]) socket.destroy()
  }

  #receive(chunk: Buffer): void {
    const waiting = this.#waiting
    if (waiting === undefined) {
      this.fail(new ProcessFault('garbage', 'it wrote to stdout without a request'))
      return
    }
    clearTimeout(waiting.pause)
    try {
      if (!waiting.admit(chunk.length))
        throw new ProcessFault('garbage', 'its answer is longer than an action may hold in memory')
      const response = waiting.reader.add(chunk)
      if (response !== undefined) {
        this.#take()
        waiting.resolve(response)
      } else if (waiting.reader.hasBegun) {
        const seconds = PAUSE_MS / 1000
        const late = new ProcessFault('stopped', `its answer began and did not go on for ${seconds} s`)
        waiting.pause = guardedTimeout(() => this.fail(late), PAUSE_MS)
      }
    } catch (error) {
      this.fail(error instanceof ProcessFault ? error : new ProcessFault('garbage', String(error), { cause: error }))
    }
  }

  #take(): Waiting | undefined {
    const waiting = this.#waiting
    clearTimeout(waiting?.pause)
    this.#waiting = undefined
    return waiting
  }
}

const pipeOf = (libc: Libc): { readonly from: number; readonly to: number } => {
  const ends = Buffer.alloc(8)
  if (libc.pipe(ends, CLOSE_ON_EXEC) !== 0)
    throw new ProcessFault('start', `no pipe could be made (errno ${libc.errno()})`)
  return { from: ends.readInt32LE(0), to: ends.readInt32LE(4) }
}
