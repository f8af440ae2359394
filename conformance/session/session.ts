import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import JSON5 from 'json5'
import type { Need } from '../exam/candidate.js'
import type { Level } from '../requirements/check.js'
import type { Json } from './json-form.js'
import { faultOf } from './session-shape.js'

/**
 * The placeholder for the run's salt in everything that a session sends: sources hold `salt-0000000000000000`, and a
 * run replaces the sixteen digits. The word itself is not matched, because an action may change its case.
 */
export const SALT = '-0000000000000000'

/** The source of a blob's bytes. */
export type BlobSource =
  | { readonly text: string }
  | { readonly base64: string }
  /** A file below the session's `blobs/`. */
  | { readonly file: string }
  /** The text, repeated and cut at `sizeBytes`. */
  | { readonly repeat: string; readonly sizeBytes: number }
  /** Other blobs of the session, one after the other. */
  | { readonly joined: readonly DigestText[] }
  /** A REAPI message by its short name; its digests are the session's. */
  | { readonly message: string; readonly value: Json }

/** `hash/size`, as recorded. A replay maps it to the digest of the content that it sends. */
export type DigestText = string

export type SessionMessage = readonly ['>' | '<', number, Json]

export interface SessionEnd {
  /** The name of a status code, or the side that broke the call off. */
  readonly code: string
  readonly message?: string
  readonly details?: readonly Json[]
}

export interface SessionCall {
  readonly id: number
  /** `package.Service/Method`. */
  readonly method: string
  /** The calls that had to end before this one began. */
  readonly after: readonly number[]
  readonly startMs: number
  readonly endMs: number
  readonly deadlineMs?: number
  /** RequestMetadata, without the fields that the head sets for all calls. */
  readonly metadata?: { readonly [field: string]: Json }
  /** Both directions in wire order: direction, milliseconds since the session began, message. */
  readonly messages: readonly SessionMessage[]
  readonly end: SessionEnd
  /** Paths of the answer that this client compares exactly, e.g. `response.status.message`. */
  readonly exact?: readonly string[]
}

export interface Session {
  /** `SES-` and the folder's name. */
  readonly id: string
  readonly folder: string
  readonly client: string
  readonly origin: 'recorded' | 'written'
  /** One sentence: what the client did. */
  readonly summary: string
  /** For a written session: its sources. */
  readonly facts?: readonly string[]
  readonly level: Level
  readonly needs: readonly Need[]
  readonly instanceName: string
  readonly metadata?: { readonly [field: string]: Json }
  readonly calls: readonly SessionCall[]
  /** Blobs that the client holds before it begins, and blobs that it made, by recorded digest. */
  readonly blobs: Readonly<Record<DigestText, BlobSource>>
  /** Text that the server made and the client read, by recorded digest. */
  readonly expected: Readonly<Record<DigestText, BlobSource>>
}

export const sessionsFolder = fileURLToPath(new URL('../../fixtures/sessions/', import.meta.url))

/** Throws an error that names the file if it is not a valid session. */
export const readSession = (folder: string): Session => {
  const path = join(folder, 'session.json5')
  if (!existsSync(path)) throw new Error(`${folder} holds no session.json5`)
  const fail = (reason: string): never => {
    throw new Error(`${path}: ${reason}`)
  }
  let read: Omit<Session, 'id' | 'folder'>
  try {
    read = JSON5.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
  const fault = faultOf(read, folder)
  if (fault !== undefined) fail(fault)
  return { ...read, expected: read.expected ?? {}, folder, id: `SES-${basename(resolve(folder))}` }
}

export const readSessions = (folder = sessionsFolder): Session[] =>
  readdirSync(folder)
    .filter((name) => existsSync(`${folder}/${name}/session.json5`))
    .sort()
    .map((name) => readSession(join(folder, name)))
