import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.js'

/** Beyond it the session that was not used for the longest time ends. */
const MAX_SESSIONS = 10_000
const ID = /^[A-Za-z0-9_-]{43}$/

interface Session {
  /** The header that the reader's browser cannot send by itself. */
  readonly authorization: string
  readonly endsMs: number
}

/**
 * Readers that logged in by the form. A session keeps the credentials, so each request is judged by the rules of its time:
 * a token that was withdrawn ends its sessions. Sessions end with the process.
 */
export class Sessions {
  /** By the hash of the id, the least recently used first. */
  readonly #sessions = new Map<string, Session>()
  readonly #lastsMs: number
  readonly #clock: Clock

  constructor(lastsMs: number, clock: Clock) {
    this.#lastsMs = lastsMs
    this.#clock = clock
  }

  /** Begins a session and returns its id: 256 random bits. */
  begin(authorization: string): string {
    const id = randomBytes(32).toString('base64url')
    this.#sessions.set(hashOf(id), { authorization, endsMs: this.#clock.now() + this.#lastsMs })
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest)
    return id
  }

  /** The authorization of a session; undefined if there is none with this id. */
  find(id: string): string | undefined {
    if (!ID.test(id)) return undefined
    const key = hashOf(id)
    const session = this.#sessions.get(key)
    if (session === undefined) return undefined
    this.#sessions.delete(key)
    if (session.endsMs <= this.#clock.now()) return undefined
    this.#sessions.set(key, session)
    return session.authorization
  }

  end(id: string): void {
    this.#sessions.delete(hashOf(id))
  }
}

const hashOf = (id: string): string => createHash('sha256').update(id).digest('base64url')
