import { startFailure } from '../base/errno.js'
import type { SchedulerConfig, SchedulerOptions } from '../config/config.js'
import { cacheLookup } from './kind/cache-lookup.js'
import { grpc } from './kind/grpc.js'
import { historicalResource } from './kind/historical-resource.js'
import { propertyModifier } from './kind/property-modifier.js'
import { simple } from './kind/simple.js'
import type { BuildContext, SchedulerKind, SchedulerParts } from './kind.js'
import type { Scheduler } from './scheduler.js'

/** Every kind by its key in the configuration. A schema without a kind or a kind without a schema does not compile. */
const kinds: { readonly [Name in keyof SchedulerOptions]: SchedulerKind<SchedulerOptions[Name]> } = {
  simple,
  cache_lookup: cacheLookup,
  property_modifier: propertyModifier,
  grpc,
  historical_resource: historicalResource,
}

/** Builds every named scheduler of a configuration, with those behind it. */
export const buildSchedulers = async (
  configs: ReadonlyMap<string, SchedulerConfig>,
  parts: SchedulerParts,
): Promise<ReadonlyMap<string, Scheduler>> => {
  const schedulers = new Map<string, Scheduler>()
  for (const [name, config] of configs) {
    const context: BuildContext = { ...parts, name, child: (inner) => build(inner, context) }
    const scheduler = await build(config, context).catch((error: unknown) => {
      throw startFailure(`scheduler ${name}`, error)
    })
    parts.resources.add(`scheduler ${name}`, () => scheduler.close())
    schedulers.set(name, scheduler)
  }
  return schedulers
}

const build = <Name extends keyof SchedulerOptions>(
  { kind, options }: { readonly kind: Name; readonly options: SchedulerOptions[Name] },
  context: BuildContext,
): Promise<Scheduler> => kinds[kind].build(options, context)
