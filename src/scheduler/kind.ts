import type { Clock } from '../base/clock.js'
import type { HealthProbe } from '../base/health.js'
import type { Ledger } from '../base/ledger/ledger.js'
import type { Log } from '../base/log.js'
import type { Resources } from '../base/resources.js'
import type { Tracer } from '../base/trace.js'
import type { SchedulerConfig } from '../config/config.js'
import type { ActionResults, Scheduler } from './scheduler.js'
import type { SchedulerActivity, SchedulerMeter } from './simple/meter.js'

/** How a scheduler of one kind is made of its options. Fails with a StatusError, or as files do. */
export interface SchedulerKind<Options> {
  build(options: Options, context: BuildContext): Promise<Scheduler>
}

/** What every scheduler of the process shares. */
export interface SchedulerParts {
  readonly clock: Clock
  readonly log: Log
  readonly resources: Resources
  readonly results: ActionResults
  /** Counts the outcomes of finished operations. */
  readonly ledger?: Ledger
  readonly meter?: SchedulerMeter
  readonly tracer?: Tracer | undefined
  /** Text that was never given before, without slashes: what makes the names of operations unguessable and unique. */
  readonly newId: () => string
  /** Takes the health probe of a scheduler. */
  watch(probe: HealthProbe): void
  /** Takes what tells how busy a scheduler is. */
  observe?(activity: () => SchedulerActivity): void
}

export interface BuildContext extends SchedulerParts {
  /** Of the configuration: the outermost one. */
  readonly name: string
  /** A scheduler behind this one. */
  child(config: SchedulerConfig): Promise<Scheduler>
}
