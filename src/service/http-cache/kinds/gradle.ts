import { isStatus } from '../../../base/status-error.js'
import { HttpError } from '../../../http/answer.js'
import { type CacheKind, fileHandler } from '../kind.js'

const KEY = /^[0-9a-f]{32,128}$/

/**
 * Gradle's HttpBuildCache. Gradle turns the cache off for the rest of the build after any refusal of an upload but 413,
 * so a caller that may only read gets that, and can go on reading.
 */
export const gradle: CacheKind = {
  handler: (mount) => {
    const answer = fileHandler(mount, {
      keyOf: ([key = '', ...more]) => (more.length === 0 && KEY.test(key) ? [key] : undefined),
      expected: "Gradle's cache key in hex",
      contentType: 'application/vnd.gradle.build-cache-artifact.v2',
    })
    return async (request) => {
      try {
        return await answer(request)
      } catch (error) {
        if (request.method === 'PUT' && isStatus(error, 'PERMISSION_DENIED')) throw new HttpError(413, error.message)
        throw error
      }
    }
  },
}
