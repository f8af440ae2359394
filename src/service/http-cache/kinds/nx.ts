import { StatusError } from '../../../base/status-error.js'
import { HttpError, textAnswer } from '../../../http/answer.js'
import { isFault } from '../entries.js'
import { type CacheKind, fileHandler } from '../kind.js'

const HASH = /^\d{1,20}$/

/**
 * Nx's self-hosted cache. Nx ends with an error after any answer that its specification does not have, so an upload that
 * cannot be stored is answered like one of a task that is there already: 409.
 */
export const nx: CacheKind = {
  handler: (mount) => {
    const answer = fileHandler(mount, {
      keyOf: ([version, cache, hash = '', ...more]) =>
        version === 'v1' && cache === 'cache' && more.length === 0 && HASH.test(hash) ? [hash] : undefined,
      expected: 'v1/cache/ and the hash of a task in decimal digits',
      stored: (outcome) => (outcome === 'kept' ? textAnswer(409, 'the task is already cached\n') : textAnswer(200, '')),
    })
    return async (request) => {
      try {
        return await answer(request)
      } catch (thrown) {
        const error = StatusError.from(thrown)
        const isTooMuch = error instanceof HttpError && (error.status === 413 || error.status === 507)
        if (request.method === 'PUT' && (isTooMuch || isFault(error))) {
          request.log.warn('a task of Nx was not stored', { cache: mount.options.path, error })
          throw new HttpError(409, error.message)
        }
        throw error
      }
    }
  },
}
