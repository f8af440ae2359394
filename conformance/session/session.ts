import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import JSON5 from 'json5'
import type { Need } from '../exam/candidate.js'
import type { Level } from '../requirements/check.js'
import type { Json } from './json-form.js'
import { faultOf } from './session-shape.js'

/**
 * What stands for a run's salt in everything a session sends: sources hold `salt-0000000000000000`, and a run puts
 * sixteen digits of its own there. The word is left out, since an action may put it into capitals.
 */
export const SALT = '-0000000000000000'

/** Where the bytes of a blob come from. */
export type BlobSource =
  | { readonly text: string }
  | { readonly base64: string }
  /** A file below the session's `blobs/`. */
  | { readonly file: string }
  /** The text again and again, cut at `sizeBytes`. */
  | { readonly repeat: string; readonly sizeBytes: number }
  /** A REAPI message by its short name; the digests in it are those of the session. */
  | { readonly message: string; readonly value: Json }

/** `hash/size`, as recorded. The run maps it to the digest of what it really sends. */
export type DigestText = string

export type SessionMessage = readonly ['>' | '<', number, Json]

export interface SessionEnd {
  /** A status code's name, or who broke the call off. */
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
  /** RequestMetadata, without what the head says for all calls. */
  readonly metadata?: { readonly [field: string]: Json }
  /** Both directions in the order of the wire: who, milliseconds since the session began, what. */
  readonly messages: readonly SessionMessage[]
  readonly end: SessionEnd
  /** Paths of the answer that this client compares to the letter, e.g. `response.status.message`. */
  readonly exact?: readonly string[]
}

export interface Session {
  /** `SES-` and the name of its folder. */
  readonly id: string
  readonly folder: string
  readonly client: string
  readonly origin: 'recorded' | 'written'
  /** What the client did, in a sentence. */
  readonly summary: string
  /** Of a written session: what it rests on. */
  readonly facts?: readonly string[]
  readonly level: Level
  readonly needs: readonly Need[]
  readonly instanceName: string
  readonly metadata?: { readonly [field: string]: Json }
  readonly calls: readonly SessionCall[]
  /** What the client holds before it begins, and what it made: by recorded digest. */
  readonly blobs: Readonly<Record<DigestText, BlobSource>>
  /** Text that the server made and the client read, by recorded digest. */
  readonly expected: Readonly<Record<DigestText, BlobSource>>
}

export const sessionsFolder = fileURLToPath(new URL('../../fixtures/sessions/', import.meta.url))

/** Throws an error that names the file when it is no session. */
export const readSession = (folder: string): Session => {
  const path = join(folder, 'session.json5')
  if (!existsSync(path)) throw new Error(`${folder}: there is no session.json5 in it`)
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
