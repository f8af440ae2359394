import type { Clock } from '../base/clock.js'
import { inWords } from '../base/errno.js'
import type { HealthStatus } from '../base/health.js'
import type { Log } from '../log/log.js'
import { type Call, internalCall } from '../rpc/call.js'
import { LATE, within } from '../work/deadline.js'
import { inBackground } from '../work/in-background.js'

/** A part that a worker cannot run actions without. */
export interface VitalPart {
  readonly name: string
  health(call: Call): Promise<HealthStatus>
}

export interface SicknessOptions {
  readonly parts: readonly VitalPart[]
  /** Called with the reason when it changes; with the empty text once the worker is fine. */
  readonly onChange: (reason: string) => void
  readonly clock: Clock
  readonly log: Log
}

/** How often a worker asks its parts. A sick one is well again after this at most. */
const PERIOD_MS = 5_000
/** A store that does not answer for this long is as good as none. */
const PATIENCE_MS = 30_000
const MAX_REASON_CHARACTERS = 300

/** Asks the stores and the disk of a worker whether they work. A worker without them fails every action that it takes. */
export class Sickness {
  readonly #options: SicknessOptions
  #reason = ''
  #isAsking = false
  readonly #stop: () => void

  constructor(options: SicknessOptions) {
    this.#options = options
    this.#stop = options.clock.every(PERIOD_MS, () => this.look())
  }

  /** Empty while the worker is fine. */
  get reason(): string {
    return this.#reason
  }

  health(): HealthStatus | undefined {
    if (this.#reason === '') return undefined
    return { state: 'Failed', message: 'takes no actions', error: this.#reason }
  }

  /** Asks now. */
  look(): void {
    if (this.#isAsking) return
    this.#isAsking = true
    inBackground(this.#ask(), this.#options.log, 'the health check of a worker')
  }

  close(): void {
    this.#stop()
  }

  async #ask(): Promise<void> {
    try {
      const found = await Promise.all(this.#options.parts.map((part) => this.#reasonOf(part)))
      this.#set(found.find((reason) => reason !== '') ?? '')
    } finally {
      this.#isAsking = false
    }
  }

  async #reasonOf({ name, health }: VitalPart): Promise<string> {
    const { log } = this.#options
    const controller = new AbortController()
    try {
      const status = await within(PATIENCE_MS, health(internalCall({ signal: controller.signal, log })))
      if (status === LATE) return `${name} does not answer for ${PATIENCE_MS / 1000} s`
      return status.state === 'Failed' ? `${name}: ${status.message}: ${status.error}` : ''
    } catch (error) {
      return `${name}: ${inWords(error)}`
    } finally {
      controller.abort()
    }
  }

  #set(found: string): void {
    const { log, onChange } = this.#options
    const reason = found.slice(0, MAX_REASON_CHARACTERS)
    if (reason === this.#reason) return
    if (this.#reason === '') log.error('this worker takes no actions until its parts work again', { reason })
    if (reason === '') log.info('this worker takes actions again')
    this.#reason = reason
    onChange(reason)
  }
}
