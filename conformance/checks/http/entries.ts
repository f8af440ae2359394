import type { Exam } from '../../exam/exam.js'
import type { HttpAnswer, HttpCache, HttpKind } from '../../wire/http.js'

// Entries of HTTP caches, each under a name that its build tool would give.

export interface HttpEntry {
  readonly cache: HttpCache
  readonly path: string
  readonly body: Buffer
}

const hex = (exam: Exam, bytes: number): string => exam.random(bytes).toString('hex')

const decimal = (exam: Exam): string => String(exam.random(8).readBigUInt64BE() | (1n << 63n))

/** The path of an entry with this content, below the address. Only Bazel's names content. */
const PATHS: Readonly<Record<HttpKind, (exam: Exam, body: Buffer) => string>> = {
  bazel: (exam, body) => `cas/${exam.digest(body).hash}`,
  ccache: (exam) => `${hex(exam, 1)}/${hex(exam, 19)}`,
  gradle: (exam) => hex(exam, 16),
  turborepo: (exam) => `v8/artifacts/${hex(exam, 8)}?slug=conformance`,
  nx: (exam) => `v1/cache/${decimal(exam)}`,
  webdav: (exam) => `${hex(exam, 1).charAt(0)}/${hex(exam, 1).charAt(0)}/${hex(exam, 1).charAt(0)}/${hex(exam, 32)}`,
  plain: (exam) => `conformance/${hex(exam, 16)}`,
}

const GRADLE = 'application/vnd.gradle.build-cache-artifact.v2'

export const HEADERS: Readonly<Partial<Record<HttpKind, Readonly<Record<string, string>>>>> = {
  ccache: { 'content-type': 'application/octet-stream' },
  gradle: { 'content-type': GRADLE, accept: GRADLE },
  nx: { 'content-type': 'application/octet-stream' },
}

/** The answers to a PUT that the client of a kind takes for success. */
export const STORED: Readonly<Record<HttpKind, (status: number) => boolean>> = {
  bazel: (status) => [200, 201, 202, 204].includes(status),
  ccache: (status) => status >= 200 && status < 300,
  gradle: (status) => status >= 200 && status < 300,
  turborepo: (status) => status >= 200 && status < 300,
  nx: (status) => status === 200,
  webdav: (status) => status >= 200 && status < 300,
  plain: (status) => status >= 200 && status < 300,
}

export const entryOf = (exam: Exam, cache: HttpCache, body: Buffer): HttpEntry => ({
  cache,
  path: PATHS[cache.kind](exam, body),
  body,
})

type Options = { readonly isChunked?: boolean; readonly expectsContinue?: boolean; readonly deadlineMs?: number }

export const put = async (exam: Exam, { cache, path, body }: HttpEntry, options: Options = {}): Promise<HttpAnswer> => {
  if (cache.kind === 'webdav') await makeParents(exam, cache, path)
  return exam.send(cache, { method: 'PUT', path, body, headers: HEADERS[cache.kind] ?? {}, ...options })
}

/** As sccache does: asks for the parent, and makes it if it is not there. */
const makeParents = async (exam: Exam, cache: HttpCache, path: string): Promise<void> => {
  const segments = path.split('/').slice(0, -1)
  for (const [at] of segments.entries()) {
    const parent = `${segments.slice(0, at + 1).join('/')}/`
    const { status } = await exam.send(cache, { method: 'PROPFIND', path: parent, headers: { depth: '0' } })
    if (status === 404) await exam.send(cache, { method: 'MKCOL', path: parent })
  }
}

export const get = (exam: Exam, { cache, path }: Omit<HttpEntry, 'body'>, method = 'GET'): Promise<HttpAnswer> =>
  exam.send(cache, { method, path, headers: HEADERS[cache.kind] ?? {} })

/** Stores an entry, which the client must take for success. */
export const store = async (exam: Exam, entry: HttpEntry, options: Options = {}): Promise<HttpAnswer> => {
  const answer = await put(exam, entry, options)
  const { kind } = entry.cache
  exam.expect(STORED[kind](answer.status), `${kind}: a status of success that its client takes`, String(answer.status))
  return answer
}

/** Expects the bytes of an entry that was stored. */
export const expectEntry = async (exam: Exam, entry: HttpEntry): Promise<HttpAnswer> => {
  const answer = await get(exam, entry)
  exam.expectEqual(answer.status, 200, `${entry.cache.kind}: the status of a stored entry`)
  exam.expectBytes(answer.body, entry.body, `${entry.cache.kind}: the entry`)
  return answer
}

export const isMiss = ({ cache }: Omit<HttpEntry, 'body'>, { status }: HttpAnswer): boolean =>
  status === 404 || (cache.kind === 'bazel' && status === 204)
