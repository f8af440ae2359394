import { type ChildProcess, fork } from 'node:child_process'
import { Socket } from 'node:net'
import type { Clock } from '../../base/clock.js'
import { programFile } from '../../base/package-root.js'
import { StatusError } from '../../base/status-error.js'
import { forwardLines } from '../../log/forwarded.js'
import { type Log, silentLog } from '../../log/log.js'
import type { Answer, Question } from './bcrypt-process.js'
import type { Credential } from './credential.js'
import type { Htpasswd } from './htpasswd.js'
import type { Identity } from './identity.js'
import { type Trial, trials } from './stand-ins.js'
import { VerifiedCredentials } from './verified-credentials.js'

/** Bound on the queue, so that a sender of wrong passwords delays others by at most this many checks. */
const MAX_WAITING = 50
const MAX_KNOWN = 1000

/** Checks user names and passwords. Correct ones are cached until the file changes. */
export class Passwords {
  readonly verified: VerifiedCredentials
  readonly #waiting = new Map<number, { resolve(isRight: boolean): void; reject(error: Error): void }>()
  readonly #log: Log
  #checker: ChildProcess | undefined
  #lastId = 0
  #hashes: Htpasswd
  #trialOf: (name: string) => Trial

  constructor(hashes: Htpasswd, clock: Clock, log: Log = silentLog) {
    this.#log = log
    this.verified = new VerifiedCredentials(MAX_KNOWN, clock)
    this.#hashes = hashes
    this.#trialOf = trials(hashes)
  }

  renew(hashes: Htpasswd): void {
    this.#hashes = hashes
    this.#trialOf = trials(hashes)
    this.verified.clear()
  }

  close(): void {
    this.#checker?.kill()
  }

  /** Takes the text after `Basic` in the header. UNAUTHENTICATED when it is wrong. */
  identify(credential: Credential): Identity | Promise<Identity> {
    return this.verified.identify(credential) ?? this.#check(credential)
  }

  async #check(credential: Credential): Promise<Identity> {
    const text = Buffer.from(credential.text, 'base64').toString('utf8')
    const at = text.indexOf(':')
    const name = text.slice(0, Math.max(0, at))
    const hashes = this.#hashes
    const add = this.verified.adding()
    const isRight = await this.#ask(text.slice(at + 1), this.#trialOf(name))
    if (!isRight || !hashes.has(name)) throw new StatusError('UNAUTHENTICATED', 'the name or the password is wrong')
    const identity: Identity = { kind: 'basic', name, groups: [] }
    add({ hash: credential.hash, identity, untilMs: Number.POSITIVE_INFINITY })
    return identity
  }

  #ask(password: string, trial: Trial): Promise<boolean> {
    if (this.#waiting.size >= MAX_WAITING) {
      throw new StatusError('RESOURCE_EXHAUSTED', 'too many passwords wait to be checked: try again later')
    }
    this.#checker ??= this.#start()
    const question: Question = { id: ++this.#lastId, password, ...trial }
    const checker = this.#checker
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.id, { resolve, reject })
      // A checker that is gone is reported by its 'exit', or its 'error', which reject all that wait. Without a descriptor to start it
      // there is nothing to send by.
      if (checker.connected) checker.send(question, () => {})
    })
  }

  #start(): ChildProcess {
    const checker = forkChecker()
    forwardLines(checker.stderr, (text) => this.#log.warn('the process that checks passwords writes', { text }))
    checker.on('message', ({ id, isRight }: Answer) => {
      this.#waiting.get(id)?.resolve(isRight)
      this.#waiting.delete(id)
    })
    const lost = (): void => {
      if (this.#checker === checker) this.#checker = undefined
      const error = new StatusError('UNAVAILABLE', 'the password could not be checked: try again')
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    }
    checker.on('error', lost).once('exit', lost)
    return checker
  }
}

const forkChecker = (): ChildProcess => {
  const program = programFile('security/identity/bcrypt-process.ts')
  const checker = fork(program, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // A process that runs from TypeScript sources needs the same loader.
    execArgv: program.href.endsWith('.ts') ? process.execArgv : [],
  })
  checker.unref()
  checker.channel?.unref()
  if (checker.stderr instanceof Socket) checker.stderr.unref()
  return checker
}
