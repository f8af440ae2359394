import { createHmac, timingSafeEqual } from 'node:crypto'
import { StatusError } from '../../base/status-error.js'
import type { Log } from '../../log/log.js'
import type { WorkerLink, WorkerOffer, WorkerPast } from '../scheduler.js'
import type { Command } from './state/state.js'

export interface LinksOptions {
  /** Whether the scheduler knows a worker of this id, connected or away. */
  readonly isKnown: (workerId: string) => boolean
  readonly newId: () => string
  /** Shared by servers with one queue: each can check the keys that another gave. */
  readonly secret?: string | undefined
  readonly log: Log
}

/** The connections of workers, and the keys that prove the ownership of worker ids. */
export class WorkerLinks {
  readonly #options: LinksOptions
  readonly #links = new Map<string, WorkerLink>()
  readonly #keys = new Map<string, string>()

  constructor(options: LinksOptions) {
    this.#options = options
  }

  /** The worker's previous id if it owns it, else a new one. */
  idOf(offer: WorkerOffer, previous: WorkerPast): string {
    return this.#isItself(previous) ? previous.workerId : `${offer.name}-${this.#options.newId()}`
  }

  /** Call this after the scheduler has registered the worker. A newer connection replaces the previous one. */
  open(workerId: string, link: WorkerLink): void {
    this.close(workerId, new StatusError('ABORTED', `worker ${workerId} connected again`))
    this.#links.set(workerId, link)
    link.welcome(workerId, this.#keyOf(workerId))
  }

  has(workerId: string): boolean {
    return this.#links.has(workerId)
  }

  of(workerId: string): WorkerLink | undefined {
    return this.#links.get(workerId)
  }

  isOf(workerId: string, link: WorkerLink): boolean {
    return this.#links.get(workerId) === link
  }

  /** The worker closed the connection. */
  lost(workerId: string): void {
    this.#links.delete(workerId)
  }

  close(workerId: string, error: StatusError): void {
    const link = this.#links.get(workerId)
    this.#links.delete(workerId)
    link?.close(error)
  }

  closeAll(error: StatusError): void {
    for (const workerId of [...this.#links.keys()]) this.close(workerId, error)
  }

  send(command: Extract<Command, { kind: 'start' | 'kill' | 'acknowledge' | 'drain' }>): void {
    const link = this.#links.get(command.workerId)
    if (command.kind === 'start') link?.start(command.start)
    if (command.kind === 'kill') link?.kill(command.attemptId)
    if (command.kind === 'acknowledge') link?.acknowledge(command.attemptId)
    if (command.kind === 'drain') link?.drain()
  }

  /**
   * Whether the worker may use the id: it has the key, or the id is not in use. Ids are public, because
   * results name workers.
   */
  #isItself({ workerId, workerKey }: WorkerPast): boolean {
    if (workerId === '') return false
    const { secret, isKnown } = this.#options
    const key = secret === undefined ? isKnown(workerId) && this.#keys.get(workerId) : keyBy(secret, 'worker', workerId)
    if (typeof key !== 'string' || isKey(key, workerKey)) return true
    this.#options.log.warn('a worker used the id of another worker without its key, and gets a new id', {
      worker: workerId,
    })
    return false
  }

  #keyOf(workerId: string): string {
    const { secret } = this.#options
    if (secret !== undefined) return keyBy(secret, 'worker', workerId)
    for (const known of this.#keys.keys()) if (!this.#options.isKnown(known)) this.#keys.delete(known)
    const key = this.#keys.get(workerId) ?? this.#options.newId()
    this.#keys.set(workerId, key)
    return key
  }
}

/** A key that whoever has the secret can make again. A key of one kind is never one of another. */
export const keyBy = (secret: string, kind: 'worker' | 'term', name: string): string =>
  createHmac('sha256', secret).update(`${kind} ${name}`).digest('base64url')

export const isKey = (key: string, given: string | undefined): boolean => {
  const [one, other] = [Buffer.from(key), Buffer.from(given ?? '')]
  return one.length === other.length && timingSafeEqual(one, other)
}
