import { StatusError } from '../../base/status-error.js'

const MAX_COUNT = 100
const MAX_LENGTH = 16 * 1024

/** Throws INVALID_ARGUMENT unless a request has URIs (Remote Asset API: at least one) of a usable length. */
export const checkUris = (uris: readonly string[]): void => {
  if (uris.length === 0) throw invalid('uris is empty, expected at least one URI')
  if (uris.length > MAX_COUNT) throw invalid(`uris has ${uris.length} entries, expected at most ${MAX_COUNT}`)
  for (const [index, uri] of uris.entries()) {
    if (uri === '') throw invalid(`uris[${index}] is empty`)
    if (uri.length > MAX_LENGTH) throw invalid(`uris[${index}] is longer than ${MAX_LENGTH} characters`)
  }
}

const invalid = (message: string): StatusError => new StatusError('INVALID_ARGUMENT', message)
