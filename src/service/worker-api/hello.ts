import { StatusError } from '../../base/status-error.js'
import type { Hello } from '../../proto/generated/remexec.worker.v1.js'
import type { WorkerOffer } from '../../scheduler/scheduler.js'

const PROTOCOL_VERSION = 1
const MAX_NAME_CHARACTERS = 200
const MAX_ATTEMPTS = 10_000

export interface ParsedHello {
  readonly offer: WorkerOffer
  readonly previous: { readonly workerId: string; readonly attemptIds: readonly string[] }
}

/** FAILED_PRECONDITION for another version of the protocol, INVALID_ARGUMENT for what makes no sense in this one. */
export const parseHello = (hello: Hello): ParsedHello => {
  const { protocolVersion, name, properties, maxInflightAttempts, workerId, attemptIds } = hello
  if (protocolVersion !== PROTOCOL_VERSION) {
    const expected = `expected ${PROTOCOL_VERSION}: run the same release as the scheduler`
    throw new StatusError(
      'FAILED_PRECONDITION',
      `worker protocol version ${protocolVersion} is not spoken here, ${expected}`,
    )
  }
  checkName('name', name)
  if (workerId !== '') checkName('worker_id', workerId)
  if (attemptIds.length > MAX_ATTEMPTS) throw invalid(`${attemptIds.length} attempt_ids`, `at most ${MAX_ATTEMPTS}`)
  const offered = new Map<string, readonly string[]>()
  for (const { name: property, values } of properties) {
    if (property === '') throw invalid('a property without a name', 'a name')
    offered.set(property, [...(offered.get(property) ?? []), ...values])
  }
  const places = maxInflightAttempts === 0 ? Number.POSITIVE_INFINITY : maxInflightAttempts
  return { offer: { name, properties: offered, maxInflightAttempts: places }, previous: { workerId, attemptIds } }
}

const checkName = (field: string, text: string): void => {
  if (text !== '' && text.length <= MAX_NAME_CHARACTERS && !/\p{Cc}/u.test(text)) return
  const shown = JSON.stringify(text.slice(0, MAX_NAME_CHARACTERS))
  throw invalid(`${field} ${shown}`, `1 to ${MAX_NAME_CHARACTERS} printable characters`)
}

const invalid = (found: string, expected: string): StatusError =>
  new StatusError('INVALID_ARGUMENT', `Hello: ${found} is not valid, expected ${expected}`)
