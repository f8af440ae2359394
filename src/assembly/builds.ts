import type { Clock } from '../base/clock.js'
import { startFailure } from '../base/errno.js'
import { Builds } from '../builds/builds.js'
import type { Config } from '../config/config.js'
import type { Log } from '../log/log.js'
import type { ServerSources } from '../pages/server/sources.js'
import type { Resources } from '../work/resources.js'

/** Opens the folder of build events, if a server takes them. All such servers have the same settings. */
export const openBuilds = async (
  { servers }: Config,
  { resources, clock, log }: { readonly resources: Resources; readonly clock: Clock; readonly log: Log },
): Promise<Builds | undefined> => {
  const [options] = servers.flatMap(({ services }) => services.build_events ?? [])
  if (options === undefined) return undefined
  const {
    path,
    max_bytes: maxBytes,
    max_invocations: maxInvocations,
    max_invocation_bytes: maxInvocationBytes,
  } = options
  const maxAgeMs = options.max_age_s * 1000
  try {
    const builds = await Builds.open({ path, maxBytes, maxAgeMs, maxInvocations, maxInvocationBytes, clock, log })
    resources.add('build events', () => builds.close())
    return builds
  } catch (error) {
    throw startFailure('build_events', error)
  }
}

/** What lists say about a build of an instance: its command, its targets and its user. */
export const namesOf =
  (builds: Builds | undefined): ServerSources['buildOf'] =>
  (invocation, instance) => {
    const summary = builds?.withId(invocation).find((one) => one.summary.about.instance === instance)?.summary
    const what = [summary?.command, ...(summary?.patterns ?? [])].filter(Boolean).join(' ')
    return what === '' ? undefined : { what, user: summary?.user }
  }
