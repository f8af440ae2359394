import { createHash } from 'node:crypto'
import { StatusError } from '../base/status-error.js'

/** Facts about an invocation that its events do not contain: the first record of its log. */
export interface About {
  readonly instance: string
  readonly invocationId: string
  readonly buildId: string
  /** Of the caller; absent if it is trusted. */
  readonly scope?: string | undefined
  /** Who began to publish it; only this caller goes on. Absent without security. */
  readonly identity?: string | undefined
  /** Where it was begun from, if nobody says who began it. */
  readonly address?: string | undefined
  readonly keywords: readonly string[]
  readonly startedMs: number
}

/** Ids occur in addresses of pages. */
const ID = /^[A-Za-z0-9._-]{1,128}$/
const MAX_KEYWORDS = 32
const MAX_TEXT = 200

/** The name of the files of an invocation. The same id in two instances, or of two scopes, is two invocations. */
export const keyOf = (instance: string, invocationId: string, scope?: string): string =>
  createHash('sha256')
    .update([instance, invocationId, ...(scope === undefined ? [] : [scope])].join('\0'))
    .digest('hex')
    .slice(0, 32)

export const checkInvocationId = (id: string): string => {
  if (ID.test(id)) return id
  const found = JSON.stringify(id.length > 100 ? `${id.slice(0, 100)}...` : id)
  throw new StatusError(
    'INVALID_ARGUMENT',
    `stream_id.invocation_id is ${found}, expected 1 to 128 letters, digits, dots, dashes and underscores`,
  )
}

export const encodeAbout = (about: About): Buffer => {
  const { keywords, buildId } = about
  const kept = keywords.slice(0, MAX_KEYWORDS).map((word) => word.slice(0, MAX_TEXT))
  return Buffer.from(JSON.stringify({ ...about, buildId: buildId.slice(0, MAX_TEXT), keywords: kept }))
}

/** Only from a block whose checksum was right. */
export const decodeAbout = (bytes: Buffer): About => JSON.parse(bytes.toString())
