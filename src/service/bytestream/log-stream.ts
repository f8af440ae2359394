import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { ReadRequest } from '../../proto/generated/google.bytestream.js'
import { Digest } from '../../reapi/digest.js'
import type { LogStreamName } from '../../reapi/log-stream-name.js'
import { unknownOperation } from '../../reapi/operation-name.js'
import type { Responses, ServedCall } from '../../rpc/rpc.js'
import { type OperationState, type Scheduler, tellerOf } from '../../scheduler/scheduler.js'
import { unlessAborted } from '../../work/deadline.js'
import { type Instances, servedInstance } from '../instance.js'
import { send } from '../send.js'

/** Between two questions to a worker, and until a reader hears of the end. */
const PAUSE_MS = 500
/** Each asks the worker again and again. Further ones are refused. */
const MAX_READERS = 256
/** What a reader may hold: an answer of a worker with both outputs. */
const READER_BYTES = 128 * 1024

export interface LogStreamOptions {
  readonly schedulers: Instances<{ readonly scheduler: Scheduler }>
  readonly clock: Clock
}

/** Sends a part of a blob of the instance, of which the result names the digest. */
export type SendBlob = (digest: Digest, offset: number, limit: number) => Promise<void>

/** What actions print while they run: the last bytes that their workers tell, and from its result what is left at the end. */
export class LogStreams {
  readonly #options: LogStreamOptions
  #readerCount = 0

  constructor(options: LogStreamOptions) {
    this.#options = options
  }

  /** Reads until the operation ends or the limit is reached. A reader that comes late, or is slow, gets the oldest bytes that are known. */
  async read(name: LogStreamName, request: ReadRequest, rpc: ServedCall, { responses, sendBlob }: Sink): Promise<void> {
    const scheduler = this.#schedulerOf(name, rpc)
    const { readOffset: offset, readLimit: limit } = request
    if (!Number.isSafeInteger(offset) || offset < 0 || limit < 0)
      throw new StatusError(
        'OUT_OF_RANGE',
        `read_offset ${offset} or read_limit ${limit} is not valid, expected 0 or more`,
      )
    if (this.#readerCount >= MAX_READERS)
      throw new StatusError('RESOURCE_EXHAUSTED', `${MAX_READERS} clients read what actions print: try again`)
    this.#readerCount += 1
    try {
      const reader = new LogReader({
        name,
        scheduler,
        responses,
        sendBlob,
        offset,
        limit: limit || Number.POSITIVE_INFINITY,
      })
      while (!(await reader.step(rpc))) await unlessAborted(this.#pause(), rpc.signal)
    } finally {
      this.#readerCount -= 1
    }
  }

  /** Who may not see the operation does not learn whether it exists. */
  #schedulerOf({ instanceName, operation }: LogStreamName, { visitor }: ServedCall): Scheduler {
    const instance = servedInstance(this.#options.schedulers, instanceName)
    const isVisible =
      visitor === undefined || visitor.may('execute', instanceName) || visitor.may('administer', instanceName)
    if (instance === undefined || !isVisible) throw unknownOperation(operation)
    return instance.scheduler
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#options.clock.every(PAUSE_MS, () => {
        stop()
        resolve()
      })
    })
  }
}

interface Sink {
  readonly responses: Responses
  readonly sendBlob: SendBlob
}

interface LogReaderParts extends Sink {
  readonly name: LogStreamName
  readonly scheduler: Scheduler
  readonly offset: number
  readonly limit: number
}

class LogReader {
  readonly #parts: LogReaderParts
  #at: number
  #left: number
  #attemptId: string | undefined

  constructor(parts: LogReaderParts) {
    this.#parts = parts
    this.#at = parts.offset
    this.#left = parts.limit
  }

  /** Sends what is new. Whether it was the last. */
  async step(rpc: ServedCall): Promise<boolean> {
    const { name, scheduler } = this.#parts
    const state = await scheduler.get(name.operation)
    if (state === undefined) throw unknownOperation(name.operation)
    if (state.outcome !== undefined) {
      await this.#end(state)
      return true
    }
    const isStdout = name.output === 'stdout'
    const [stdoutOffset, stderrOffset] = isStdout ? [this.#at, NOTHING] : [NOTHING, this.#at]
    await rpc.reserveAnswer(READER_BYTES)
    const found = await tellerOf(scheduler)?.printedBy(name.operation, { stdoutOffset, stderrOffset })
    const part = found?.printed?.[name.output]
    if (found === undefined || part === undefined) return false
    // Another attempt prints from the begin. What it printed meanwhile was asked for from the wrong place.
    if (this.#attemptId !== undefined && this.#attemptId !== found.attemptId) this.#at = 0
    const isOther = this.#attemptId !== found.attemptId && this.#attemptId !== undefined
    this.#attemptId = found.attemptId
    if (isOther) return false
    const from = part.sizeBytes - part.bytes.length
    await this.#send(part.bytes.subarray(Math.max(0, this.#at - from)), Math.max(this.#at, from))
    return this.#left === 0
  }

  async #send(bytes: Buffer, at: number): Promise<void> {
    const data = bytes.subarray(0, this.#left)
    this.#at = at + data.length
    this.#left -= data.length
    if (data.length > 0) await send(this.#parts.responses, { data })
  }

  /** The rest of the output, if the result has it. */
  async #end({ outcome, actionDigest }: OperationState): Promise<void> {
    const result = outcome !== undefined && 'response' in outcome ? outcome.response.result : null
    if (result === null) return
    const isStdout = this.#parts.name.output === 'stdout'
    const raw = isStdout ? result.stdoutRaw : result.stderrRaw
    const message = isStdout ? result.stdoutDigest : result.stderrDigest
    if (raw.length > 0 || message === null) await this.#send(raw.subarray(this.#at), this.#at)
    else {
      const digest = Digest.parse(message, actionDigest.function, 'an output of the action')
      if (digest.sizeBytes > this.#at) await this.#parts.sendBlob(digest, this.#at, this.#left)
    }
  }
}

/** Beyond the end of any output. */
const NOTHING = Number.MAX_SAFE_INTEGER
