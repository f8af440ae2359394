import { emptyAnswer, HttpError, jsonAnswer } from '../../../http/answer.js'
import type { HttpAnswer, HttpRequest } from '../../../http/request.js'
import { type CacheKind, forgiving, hitAnswer, MISS, notAllowed, refuseEncoding, segmentsOf } from '../kind.js'
import type { Mount } from '../mount.js'

const ID = /^[0-9a-f]{64}$/

/**
 * The public HTTP protocol of helpers for Go's GOCACHEPROG: GET action/A names an output, GET output/O has its bytes, and
 * `Want-Object: 1` asks for both at once; PUT A/O stores. An output id is the SHA-256 of the output. The build fails after any
 * refusal of an upload.
 */
export const go: CacheKind = {
  handler: (mount) =>
    forgiving(
      mount,
      (request) => answer(mount, request),
      () => emptyAnswer(204),
    ),
}

const answer = async (mount: Mount, request: HttpRequest): Promise<HttpAnswer> => {
  const [first = '', second = '', ...more] = segmentsOf(request.rest)
  const isLookup = first === 'action' || first === 'output'
  if (more.length > 0 || !ID.test(second) || !(isLookup || ID.test(first)))
    throw new HttpError(400, `expected action/ID, output/ID or ID/ID below ${mount.options.path}, IDs of 64 hex digits`)
  if (isLookup) {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw notAllowed('GET, HEAD')
    return first === 'action' ? action(mount, request, second) : output(mount, request, second)
  }
  if (request.method !== 'PUT') throw notAllowed('PUT')
  refuseEncoding(request)
  return store(mount, request, first, second)
}
const action = async (mount: Mount, request: HttpRequest, id: string): Promise<HttpAnswer> => {
  const entry = await mount.get(request, 'action', id)
  if (entry === undefined) return MISS()
  const { sizeBytes } = entry
  const { hash } = entry.digest()
  if (request.headers.get('want-object') === '1') {
    const answer = hitAnswer(entry)
    return { ...answer, headers: { ...answer.headers, 'go-output-id': hash } }
  }
  entry.body.discard()
  return jsonAnswer(200, { outputID: hash, size: sizeBytes })
}

const output = async (mount: Mount, request: HttpRequest, id: string): Promise<HttpAnswer> => {
  const entry = await mount.get(request, 'output', id)
  return entry === undefined ? MISS() : hitAnswer(entry)
}

/** The output is an entry too, so that it can be asked for by itself. Its bytes are stored once. */
const store = async (mount: Mount, request: HttpRequest, id: string, outputId: string): Promise<HttpAnswer> => {
  await mount.put(request, { hash: outputId }, ['action', id], ['output', outputId])
  return emptyAnswer(204)
}
