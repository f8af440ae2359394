import { isStatus } from '../../../base/status-error.js'
import { emptyAnswer, HttpError, jsonAnswer } from '../../../http/answer.js'
import type { HttpAnswer, HttpRequest } from '../../../http/request.js'
import { collectJson } from '../json-body.js'
import { type CacheKind, fileHandler, notAllowed, segmentsOf } from '../kind.js'
import type { Mount } from '../mount.js'

const HASH = /^[0-9a-f]{16,64}$/
/** As people name teams. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const TEAM = /^[^\u0000-\u001f\u007f]{0,100}$/
const MAX_HASHES = 1000

/**
 * Turborepo's remote cache (the Vercel API, below `/v8`). Teams are separate caches; a team by its id and one by its
 * slug are two, because turbo signs with what it was given.
 */
export const turborepo: CacheKind = {
  handler: (mount) => {
    const files = fileHandler(mount, {
      keyOf: ([, , hash = '', ...more], request) =>
        more.length === 0 && HASH.test(hash) ? [teamOf(request), hash] : undefined,
      expected: 'v8/artifacts/ and a hash',
      // The client makes and checks the tag; the others describe the run.
      keeps: ['artifactTag', 'artifactDuration', 'artifactSha', 'artifactDirtyHash'],
      stored: () => jsonAnswer(200, { urls: [] }),
    })
    const answer = async (request: HttpRequest): Promise<HttpAnswer> => {
      const [version, artifacts, name, ...more] = segmentsOf(request.rest)
      if (version !== 'v8' || artifacts !== 'artifacts' || more.length > 0)
        throw new HttpError(404, `expected v8/artifacts below ${mount.options.path}`)
      if (request.method === 'OPTIONS') return preflight(request)
      if (name === undefined) return query(mount, request)
      if (name === 'status') return status(mount, request)
      if (name === 'events') return events(mount, request)
      return files(request)
    }
    // turbo shows the message of a refusal only if it is this JSON.
    return async (request) => {
      try {
        return await answer(request)
      } catch (error) {
        if (!isStatus(error, 'PERMISSION_DENIED')) throw error
        return jsonAnswer(403, { error: { code: 'forbidden', message: error.message } })
      }
    }
  },
}

const teamOf = ({ query }: HttpRequest): string => {
  const [id, slug] = [query.get('teamId'), query.get('slug')]
  for (const name of [id, slug])
    if (name !== null && !TEAM.test(name)) throw new HttpError(400, 'teamId or slug is no name')
  return JSON.stringify([id, slug])
}

/** An answer that allows the token on the real call; turbo asks before each call if it is told to. */
const preflight = ({ headers }: HttpRequest): HttpAnswer =>
  emptyAnswer(200, {
    'access-control-allow-methods': 'GET, HEAD, PUT, POST, OPTIONS',
    'access-control-allow-headers': `Authorization, Content-Type, User-Agent, ${allowedOf(headers.get('access-control-request-headers'))}`,
  })

const allowedOf = (asked = ''): string => (/^[\w, -]{0,500}$/.test(asked) ? asked : '')

const status = (mount: Mount, request: HttpRequest): HttpAnswer => {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw notAllowed('GET, HEAD')
  mount.demandRead(request)
  // Said here, before each artifact is refused.
  teamOf(request)
  return jsonAnswer(200, { status: 'enabled' })
}

/** What turbo found in its own cache and here. Nothing is kept of it. */
const events = async (mount: Mount, request: HttpRequest): Promise<HttpAnswer> => {
  if (request.method !== 'POST') throw notAllowed('POST')
  mount.demandRead(request)
  const list = await collectJson(request)
  request.note({ events: Array.isArray(list) ? list.length : 0 })
  return jsonAnswer(200, {})
}

/** Facts about several artifacts. */
const query = async (mount: Mount, request: HttpRequest): Promise<HttpAnswer> => {
  if (request.method !== 'POST') throw notAllowed('POST')
  const asked = await collectJson(request)
  const hashes = typeof asked === 'object' && asked !== null && 'hashes' in asked ? asked.hashes : undefined
  if (!Array.isArray(hashes) || hashes.length > MAX_HASHES)
    throw new HttpError(400, `expected {"hashes": [...]}, at most ${MAX_HASHES}`)
  const found: Record<string, unknown> = {}
  for (const hash of hashes) {
    if (typeof hash !== 'string' || !HASH.test(hash)) throw new HttpError(400, 'expected hashes in hex')
    const entry = await mount.get(request, teamOf(request), hash)
    entry?.body.discard()
    found[hash] = entry && {
      size: entry.sizeBytes,
      taskDurationMs: Number(entry.fields.artifactDuration ?? 0),
      ...(entry.fields.artifactTag !== undefined && { tag: entry.fields.artifactTag }),
    }
    found[hash] ??= null
  }
  return jsonAnswer(200, found)
}
