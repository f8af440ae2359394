import { hostname } from 'node:os'
import { digestText, toJson } from '../session/json-form.js'
import { SALT, type Session } from '../session/session.js'
import { digestsIn, strangersOf } from '../session/strangers.js'
import type { DecodedCall } from './decoded-call.js'

/** Notes for readers of the session: places where a replay may get other answers than the recorded client. */
export const notesOf = (
  calls: readonly DecodedCall[],
  session: Pick<Session, 'calls' | 'blobs'>,
  uploaded: ReadonlyMap<string, Buffer>,
): string[] => [
  ...heldBefore(calls, uploaded),
  ...answeredBefore(calls),
  ...unsalted(calls, session, uploaded),
  ...machineBound(session),
]

const methodOf = ({ method }: DecodedCall): string => method.slice(method.indexOf('/') + 1)

const BEFORE = 'start with an empty server'

/** Blobs that the server had before, neither uploaded nor produced in the session. */
const heldBefore = (calls: readonly DecodedCall[], uploaded: ReadonlyMap<string, Buffer>): string[] => {
  const asked = new Set<string>()
  const missing = new Set<string>()
  for (const call of calls) {
    if (methodOf(call) !== 'FindMissingBlobs' || call.responses.length === 0) continue
    for (const digest of (call.requests[0]?.blobDigests ?? []).map(digestText)) asked.add(digest)
    for (const digest of (call.responses[0]?.missingBlobDigests ?? []).map(digestText)) missing.add(digest)
  }
  const made = new Set(calls.flatMap(toldBy))
  return [...asked]
    .filter((digest) => !uploaded.has(digest) && !digest.endsWith('/0') && !made.has(digest) && !missing.has(digest))
    .map((digest) => `${digest} was on the server before: ${BEFORE}`)
}

const toldBy = (call: DecodedCall): string[] =>
  methodOf(call) === 'FindMissingBlobs' ? [] : digestsIn(call.responses.map(toJson))

/** Cached results that the session did not produce. */
const answeredBefore = (calls: readonly DecodedCall[]): string[] => {
  const brought = new Set<string>()
  return calls.flatMap((call) => {
    const [request] = call.requests
    if (!request?.actionDigest) return []
    const digest = digestText(request.actionDigest)
    if (methodOf(call) !== 'GetActionResult') brought.add(digest)
    else if (call.responses.length > 0 && !brought.has(digest)) {
      return [`the result of the action ${digest} was on the server before: ${BEFORE}`]
    }
    return []
  })
}

/** Actions that a replay cannot salt: a server that has seen them before may answer otherwise. */
const unsalted = (
  calls: readonly DecodedCall[],
  session: Pick<Session, 'calls' | 'blobs'>,
  uploaded: ReadonlyMap<string, Buffer>,
): string[] => {
  const asked = new Set(
    calls.flatMap(({ requests }) => requests.flatMap(({ actionDigest }) => actionDigest ?? [])).map(digestText),
  )
  const strangers = strangersOf(session)
  const told = new Set(calls.flatMap(toldBy).filter((digest) => !strangers.has(digest)))
  const isSalted = (digest: string, above: ReadonlySet<string>): boolean => {
    if (above.has(digest)) return false
    const source = session.blobs[digest]
    // A blob without content gets a name of the run, unless the server makes it or it is the empty blob.
    if (source === undefined) return !told.has(digest) && !digest.endsWith('/0')
    if (uploaded.get(digest)?.includes(SALT)) return true
    return 'message' in source && digestsIn(source.value).some((below) => isSalted(below, new Set([...above, digest])))
  }
  return [...asked]
    .filter((digest) => !isSalted(digest, new Set()))
    .map(
      (digest) =>
        `the action ${digest} cannot be salted, because none of its inputs holds salt-0000000000000000; a replay asks for it as recorded`,
    )
}

/** Traces of the machine on which the client ran. */
const machineBound = ({ calls, blobs }: Pick<Session, 'calls' | 'blobs'>): string[] => {
  const host = hostname()
  const named = Object.entries(blobs).flatMap(([digest, source]) => {
    const text = 'message' in source ? JSON.stringify(source.value) : ''
    const [path] = /\/(home|root|Users|opt|work)\/[\w./-]*/.exec(text) ?? []
    return path === undefined ? [] : `${digest} names ${path}, which is this machine's`
  })
  const isNamed = (form: unknown): boolean => host.length > 3 && JSON.stringify(form).includes(host)
  return [
    ...named,
    ...calls.filter(isNamed).map(({ id, method }) => `call ${id} ${method} names ${host}, which is this machine`),
    ...Object.keys(blobs)
      .filter((digest) => isNamed(blobs[digest]))
      .map((digest) => `${digest} names ${host}, which is this machine`),
  ]
}
