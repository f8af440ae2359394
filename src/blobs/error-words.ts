import { StatusError } from '../base/status-error.js'
import type { Digest } from '../reapi/digest.js'

/** Replaces the internal name of a blob in an error by the digest that the client sent. */
export const inWordsOfClients = (thrown: unknown, { key }: Digest, sent: Digest): StatusError => {
  const error = StatusError.from(thrown)
  if (!error.message.includes(key)) return error
  return new StatusError(error.code, error.message.replaceAll(key, sent.key), {
    details: error.details,
    cause: error,
  })
}
