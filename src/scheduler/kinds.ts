import { startFailure } from '../base/errno.js'
import type { SchedulerConfig, SchedulerOptions } from '../config/config.js'
import { innermost } from '../config/innermost.js'
import { Spread } from './elected/spread.js'
import type { BuildContext, SchedulerKind, SchedulerParts } from './kind.js'
import type { Scheduler } from './scheduler.js'

/**
 * Every kind by its key in the configuration. A kind without a schema, or a schema without a kind, does not
 * compile. Only the kinds that the configuration uses are loaded.
 */
const kinds: { readonly [Name in keyof SchedulerOptions]: () => Promise<SchedulerKind<SchedulerOptions[Name]>> } = {
  simple: async () => (await import('./kind/simple.js')).simple,
  cache_lookup: async () => (await import('./kind/cache-lookup.js')).cacheLookup,
  property_modifier: async () => (await import('./kind/property-modifier.js')).propertyModifier,
  grpc: async () => (await import('./kind/grpc.js')).grpc,
  historical_resource: async () => (await import('./kind/historical-resource.js')).historicalResource,
}

/** The class of a scheduler in health reports, which is that of the innermost one, also while it starts. */
export const structNameOf = (config: SchedulerConfig): string =>
  innermost(config) === undefined ? 'GrpcScheduler' : 'SimpleScheduler'

/** Builds every named scheduler of a configuration, including the schedulers it wraps. */
export const buildSchedulers = async (
  configs: ReadonlyMap<string, SchedulerConfig>,
  parts: SchedulerParts,
): Promise<ReadonlyMap<string, Scheduler>> => {
  const schedulers = new Map<string, Scheduler>()
  const spread = new Spread()
  for (const [name, config] of configs) {
    const context: BuildContext = { ...parts, name, spread, child: (inner) => build(inner, context) }
    const scheduler = await build(config, context).catch((error: unknown) => {
      throw startFailure(`scheduler ${name}`, error)
    })
    parts.resources.add(`scheduler ${name}`, () => scheduler.close())
    schedulers.set(name, scheduler)
  }
  return schedulers
}

const build = async <Name extends keyof SchedulerOptions>(
  { kind, options }: { readonly kind: Name; readonly options: SchedulerOptions[Name] },
  context: BuildContext,
): Promise<Scheduler> => (await kinds[kind]()).build(options, context)
