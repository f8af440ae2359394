import { isStatus, StatusError } from '../../base/status-error.js'
import type { Hello, Start, WorkerMessage } from '../../proto/generated/remexec.worker.v1.js'
import { toMs } from '../../proto/time.js'
import { Digest, resolveDigestFunction } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import { instanceOfOperation } from '../../reapi/operation-name.js'
import type { BroughtAttempt, WorkerOffer, WorkerPast } from '../../scheduler/scheduler.js'

const PROTOCOL_VERSION = 1
const MAX_NAME_CHARACTERS = 200
const MAX_ATTEMPTS = 10_000
const MAX_REASON_CHARACTERS = 300
const MAX_OPERATION_CHARACTERS = 4_096
const FUNCTIONS = Object.values(digestFunctions)

export interface ParsedHello {
  readonly offer: WorkerOffer
  readonly previous: WorkerPast
}

/** FAILED_PRECONDITION for another protocol version, INVALID_ARGUMENT for invalid values. */
export const parseHello = (hello: Hello): ParsedHello => {
  const { protocolVersion, name, properties, workerId, workerKey, attemptIds, attempts } = hello
  const { maxInflightAttempts, maxWaitingAttempts, highestEpoch, termKey } = hello
  if (protocolVersion !== PROTOCOL_VERSION) {
    const expected = `expected ${PROTOCOL_VERSION}: run the same release as the scheduler`
    throw new StatusError(
      'FAILED_PRECONDITION',
      `worker protocol version ${protocolVersion} is not supported, ${expected}`,
    )
  }
  checkName('name', name)
  if (workerId !== '') checkName('worker_id', workerId)
  for (const [field, { length }] of Object.entries({ attempt_ids: attemptIds, attempts })) {
    if (length > MAX_ATTEMPTS) throw invalid(`${length} ${field}`, `at most ${MAX_ATTEMPTS}`)
  }
  const offered = new Map<string, readonly string[]>()
  for (const { name: property, values } of properties) {
    if (property === '') throw invalid('a property without a name', 'a name')
    offered.set(property, [...(offered.get(property) ?? []), ...values])
  }
  const slots = maxInflightAttempts === 0 ? Number.POSITIVE_INFINITY : maxInflightAttempts
  // Without a scope nobody knows whose they are: the worker is told to end them.
  const known = attempts.filter(({ scope }) => scope !== null)
  const brought = new Map(known.map((start) => [start.attemptId, broughtBy(start)]))
  return {
    offer: {
      ...{ name, properties: offered, maxInflightAttempts: slots, maxWaitingAttempts },
      ...{ sick: shownReason(hello.sick), isConfined: hello.confined, runsImages: hello.containerImages },
      warmKeys: hello.warmKeys,
    },
    previous: { workerId, workerKey, attemptIds, brought, highestEpoch, termKey },
  }
}

/**
 * An attempt that a reconnecting worker reports. Carries no client identity, because workers are not trusted with that.
 */
const broughtBy = (start: Start): BroughtAttempt => {
  const { attemptId, operationName, instanceName, properties, queuedTimestamp, doNotCache, priority } = start
  checkName('attempts: attempt_id', attemptId)
  if (operationName.length > MAX_OPERATION_CHARACTERS || instanceOf(operationName) !== instanceName) {
    const expected = `the name of an operation of instance ${JSON.stringify(instanceName.slice(0, MAX_NAME_CHARACTERS))}`
    throw invalid(`attempts: operation_name ${JSON.stringify(operationName.slice(0, MAX_NAME_CHARACTERS))}`, expected)
  }
  const digestFunction = resolveDigestFunction(start.digestFunction, start.actionDigest?.hash, FUNCTIONS)
  const actionDigest = Digest.parse(start.actionDigest, digestFunction, 'attempts: action_digest')
  const trace = start.traceparent === '' ? undefined : { traceparent: start.traceparent, tracestate: start.tracestate }
  return {
    ...{ attemptId, operationName, queuedMs: queuedTimestamp === null ? 0 : toMs(queuedTimestamp) },
    request: {
      ...{ instanceName, actionDigest, properties, priority, doNotCache, trace },
      ...{ skipCacheLookup: false, invocation: '', scope: start.scope?.name },
    },
  }
}

/** What a worker says of itself, fit for a log line and a page. */
export const shownReason = (text: string): string => text.slice(0, MAX_REASON_CHARACTERS).replace(/\p{Cc}/gu, ' ')

const instanceOf = (operationName: string): string | undefined => {
  try {
    return instanceOfOperation(operationName)
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

const checkName = (field: string, text: string): void => {
  if (text !== '' && text.length <= MAX_NAME_CHARACTERS && !/\p{Cc}/u.test(text)) return
  const shown = JSON.stringify(text.slice(0, MAX_NAME_CHARACTERS))
  throw invalid(`${field} ${shown}`, `1 to ${MAX_NAME_CHARACTERS} printable characters`)
}

const invalid = (found: string, expected: string): StatusError =>
  new StatusError('INVALID_ARGUMENT', `Hello: ${found} is not valid, expected ${expected}`)

/** The first message of a worker. Throws INVALID_ARGUMENT if it is another one. */
export const helloOf = (message: WorkerMessage): Hello => {
  if (message.hello !== null) return message.hello
  const found = message.message ?? 'an unknown message'
  throw new StatusError('INVALID_ARGUMENT', `the first message of a worker is ${found}, expected hello`)
}

/** Each stream has one: what it says is not said again. Throws INVALID_ARGUMENT. */
export const checkNoHello = ({ hello }: WorkerMessage): void => {
  if (hello !== null) throw new StatusError('INVALID_ARGUMENT', 'a second hello came on one stream, expected one')
}
