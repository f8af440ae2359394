import type { Ledger } from '../../../ledger/ledger.js'
import { type SchedulerMeter, unmetered } from '../meter.js'
import type { SimpleSettings } from '../settings.js'
import { LearnedSizes } from '../sizes/learned-sizes.js'
import { Acknowledgements } from './acknowledgements.js'
import { Deadlines } from './deadlines.js'
import type { Command } from './state.js'

/**
 * Shared by the parts of one machine: settings, the time of the current event, its commands, the meter,
 * the deadlines and the results that workers still keep.
 */
export class Context {
  readonly settings: SimpleSettings
  readonly meter: SchedulerMeter
  readonly ledger: Ledger
  /** The term of the leader; 0 where there are no other servers. */
  readonly epoch: number
  readonly deadlines = new Deadlines()
  readonly sizes: LearnedSizes
  readonly acknowledgements = new Acknowledgements(this)
  nowMs = 0
  /** Nothing is started: what an earlier scheduler had is still being told. */
  isHeld = false
  /** When a worker was last here that runs actions in images. */
  imagesSeenMs = Number.NEGATIVE_INFINITY
  #commands: Command[] = []

  constructor(settings: SimpleSettings, ledger: Ledger, meter: SchedulerMeter = unmetered, epoch = 0) {
    this.settings = settings
    this.epoch = epoch
    this.sizes = new LearnedSizes(settings.learnedSizes, settings.supportedPlatformProperties)
    this.ledger = ledger
    this.meter = meter
  }

  emit(command: Command): void {
    this.#commands.push(command)
  }

  log(level: 'info' | 'warn', message: string): void {
    this.emit({ kind: 'log', level, message })
  }

  take(): Command[] {
    const commands = this.#commands
    this.#commands = []
    return commands
  }
}
