import { bytesAnswer, emptyAnswer, HttpError } from '../../../http/answer.js'
import type { HttpAnswer, HttpRequest } from '../../../http/request.js'
import { type CacheKind, fileHandler, segmentsOf } from '../kind.js'
import type { Mount } from '../mount.js'

const MAX_SEGMENTS = 32
const MAX_NAME = 255
const EPOCH = 'Thu, 01 Jan 1970 00:00:00 GMT'

/**
 * As much of WebDAV as sccache uses: files, and folders that exist as soon as they are asked for. PROPFIND of a path
 * with an entry shows a file, of any other a folder.
 */
export const webdav: CacheKind = {
  handler: (mount) => {
    const files = fileHandler(mount, {
      keyOf: (segments) => (isPath(segments) ? [segments.join('/')] : undefined),
      expected: `a path of 1 to ${MAX_SEGMENTS} segments, each of at most ${MAX_NAME} characters`,
      removes: true,
    })
    return async (request) => {
      if (request.method === 'PROPFIND') return properties(mount, request)
      if (request.method === 'MKCOL') {
        mount.demandWrite(request)
        return emptyAnswer(201)
      }
      if (request.method === 'OPTIONS') return emptyAnswer(200, { dav: '1', allow: METHODS })
      return files(request)
    }
  },
}

const METHODS = 'OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, MKCOL'

const isPath = (segments: readonly string[]): boolean =>
  segments.length > 0 && segments.length <= MAX_SEGMENTS && segments.every(({ length }) => length <= MAX_NAME)

const properties = async (mount: Mount, request: HttpRequest): Promise<HttpAnswer> => {
  const segments = segmentsOf(request.rest)
  if (segments.length > 0 && !isPath(segments)) throw new HttpError(400, 'the path is no folder of this cache')
  mount.demandRead(request)
  const isFolder = segments.length === 0 || request.path.endsWith('/')
  const entry = isFolder ? undefined : await mount.get(request, segments.join('/'))
  entry?.body.discard()
  const type = entry === undefined ? '<D:collection/>' : ''
  const length = entry === undefined ? '' : `<D:getcontentlength>${entry.sizeBytes}</D:getcontentlength>`
  const at = segments.map((segment) => encodeURIComponent(segment)).join('/')
  const href = `${mount.options.path.replace(/\/$/, '')}/${at}${entry === undefined && segments.length > 0 ? '/' : ''}`
  const text =
    '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:"><D:response>' +
    `<D:href>${escaped(href)}</D:href><D:propstat><D:prop><D:resourcetype>${type}</D:resourcetype>${length}` +
    `<D:getlastmodified>${EPOCH}</D:getlastmodified></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>` +
    '</D:response></D:multistatus>\n'
  return bytesAnswer(207, 'application/xml; charset=utf-8', Buffer.from(text))
}

const escaped = (text: string): string => text.replace(/[<>&]/g, (found) => ESCAPES[found] as string)
const ESCAPES: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;' }
