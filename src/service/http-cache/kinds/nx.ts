import { textAnswer } from '../../../http/answer.js'
import { type CacheKind, fileHandler, forgiving } from '../kind.js'

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
    return forgiving(mount, answer, ({ message }) => textAnswer(409, `${message}\n`))
  },
}
