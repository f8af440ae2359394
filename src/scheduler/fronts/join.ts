import type { Writable } from 'node:stream'
import { whenAborted } from '../../base/cancellation.js'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { FrontHello, FrontMessage, TermSeen } from '../../proto/generated/remexec.scheduler.v1.js'
import type { Scheduler } from '../scheduler.js'
import { Front } from './front.js'

const PROTOCOL_VERSION = 1
/** Fronts take a connection for lost that was silent for three times as long. */
export const STILL_THERE_MS = 5_000

/** The stream of a front after its first message. */
export interface JoinStream {
  readonly hello: FrontHello
  readonly messages: AsyncIterator<FrontMessage>
  readonly responses: Writable
}

export interface JoinParts {
  readonly schedulerOf: (instanceName: string) => Scheduler
  readonly ledger: Ledger
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Ends the stream of the front. */
  readonly fail: (error: StatusError) => void
  /** That of the leader, where several servers have one queue. */
  readonly term?: { readonly epoch: number; readonly leaderId: string } | undefined
  readonly mayCome?: () => boolean
  readonly onHoldingEnded?: () => void
  readonly onTermSeen?: (seen: TermSeen) => void
  /** Gives a function that asks the front for the highest term it knows. */
  readonly onAskable?: (ask: () => void) => void
}

/** Serves one front until its stream ends. Its clients have gone with it then. An invalid message rejects. */
export const serveFront = async ({ hello, messages, responses }: JoinStream, parts: JoinParts): Promise<void> => {
  const { clock, signal, term, onAskable } = parts
  responses.write({ welcome: { stillThereIntervalMs: STILL_THERE_MS, ...term } })
  onAskable?.(() => {
    if (!responses.destroyed) responses.write({ stillThere: { asks: true } })
  })
  const stop = clock.every(STILL_THERE_MS, () => {
    if (!responses.destroyed && !responses.writableNeedDrain) responses.write({ stillThere: {} })
  })
  const front = new Front({ ...parts, responses, saysKept: hello.saysKept })
  const gone = (): void => front.close()
  whenAborted(signal, gone)
  try {
    for await (const message of { [Symbol.asyncIterator]: () => messages }) await front.receive(message)
  } finally {
    stop()
    front.close()
  }
}

/** The first message of a front. Throws INVALID_ARGUMENT if it is another one, FAILED_PRECONDITION for another version. */
export const checkHello = ({ message, hello }: FrontMessage): FrontHello => {
  if (hello === null) {
    const found = message ?? 'an unknown message'
    throw new StatusError('INVALID_ARGUMENT', `the first message of a front is ${found}, expected hello`)
  }
  if (hello.protocolVersion === PROTOCOL_VERSION) return hello
  const expected = `expected ${PROTOCOL_VERSION}: run releases that speak the same`
  throw new StatusError(
    'FAILED_PRECONDITION',
    `scheduling protocol version ${hello.protocolVersion} is not supported, ${expected}`,
  )
}
