import type { Clock } from '../base/clock.js'
import type { HealthProbe } from '../base/health.js'
import type { SchedulerConfig, StoreConfig } from '../config/config.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Log } from '../log/log.js'
import type { SecretLearner } from '../log/secrets.js'
import type { Tracer } from '../rpc/trace.js'
import type { Resources } from '../work/resources.js'
import type { Spread } from './elected/spread.js'
import type { ActionResults, Scheduler } from './scheduler.js'
import type { ElectionFacts, SchedulerActivity, SchedulerMeter } from './simple/meter.js'

/**
 * Builds schedulers of one kind from their options. Fails with a StatusError or with an error of the file
 * system.
 */
export interface SchedulerKind<Options> {
  build(options: Options, context: BuildContext): Promise<Scheduler>
}

/** Values that all schedulers of the process share. */
export interface SchedulerParts {
  readonly clock: Clock
  readonly log: Log
  readonly resources: Resources
  readonly results: ActionResults
  /** Counts the outcomes of finished operations. */
  readonly ledger?: Ledger
  readonly meter?: SchedulerMeter
  readonly tracer?: Tracer | undefined
  /** The share of ended actions, 0 to 1, whose log line is at level info instead of debug. */
  readonly shownShare?: number | undefined
  /** Returns a new unique text without slashes. Operation names are unique and unguessable because of it. */
  readonly newId: () => string
  /** Receives the secrets that are not in the configuration. */
  readonly secrets?: SecretLearner
  /** A named store of the configuration, behind its references. */
  storeConfig?(name: string): StoreConfig | undefined
  /** Registers the health probe of a scheduler. */
  watch(probe: HealthProbe): void
  /** Registers the function that reports how busy a scheduler is. */
  observe?(activity: () => SchedulerActivity): void
  /** Registers the function that tells of the election of a scheduler that several servers have. */
  observeElection?(election: () => ElectionFacts): void
}

export interface BuildContext extends SchedulerParts {
  /** The name of the outermost scheduler in the configuration. */
  readonly name: string
  /** One for all schedulers of the process. */
  readonly spread: Spread
  /** Builds a wrapped scheduler. */
  child(config: SchedulerConfig): Promise<Scheduler>
}
