import { StatusError } from '../../base/status-error.js'
import type { Hello, StoreRequest } from '../../proto/generated/remexec.worker.v1.js'
import type { LentStoreResponse, LentStoreServer, LentStores } from '../../store/lent/server.js'

export type LentStoresByKey = (key: string) => LentStores | undefined

export interface LentAnswers {
  /** Sends an answer. Resolves once the stream has room for more. */
  readonly send: (id: number, answer: LentStoreResponse) => Promise<void>
  /** Ends the stream of the worker. */
  readonly fail: (error: StatusError) => void
}

/** Answers what a worker asks of the stores of this server, which started it. Throws PERMISSION_DENIED if it did not. */
export const answerLent = (
  request: StoreRequest,
  stores: LentStoreServer | undefined,
  { send, fail }: LentAnswers,
): void => {
  if (stores === undefined) throw withoutKey()
  const answered = stores.receive(request, (answer) => send(request.id, answer))
  answered.catch((error: unknown) => fail(StatusError.from(error)))
}

/** PERMISSION_DENIED for an unknown key, because not every worker that may connect may use the stores directly. */
export const lentTo = (
  { storeKey }: Pick<Hello, 'storeKey'>,
  lentStores: LentStoresByKey | undefined,
): LentStores | undefined => {
  if (storeKey === '') return undefined
  const lent = lentStores?.(storeKey)
  if (lent === undefined) throw new StatusError('PERMISSION_DENIED', 'Hello: store_key is unknown to this server')
  return lent
}

const withoutKey = (): StatusError =>
  new StatusError(
    'PERMISSION_DENIED',
    'a store request of a worker without store_key, expected one from a worker that this server started',
  )
