import { emptyAnswer } from '../../../http/answer.js'
import { type CacheKind, fileHandler } from '../kind.js'

const MAX_SEGMENTS = 16

/**
 * Maven's build cache extension: several files below one checksum, of which `buildinfo.xml` comes last. It makes folders
 * first if it writes by WebDAV; here every folder exists.
 */
export const maven: CacheKind = {
  handler: (mount) => {
    const answer = fileHandler(mount, {
      keyOf: (segments) => (segments.length >= 3 && segments.length <= MAX_SEGMENTS ? [segments.join('/')] : undefined),
      expected: 'version/group/artifact/checksum/file',
    })
    return async (request) => {
      if (request.method !== 'MKCOL') return answer(request)
      mount.demandWrite(request)
      return emptyAnswer(201)
    }
  },
}
