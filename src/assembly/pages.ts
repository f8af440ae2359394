import type { Clock } from '../base/clock.js'
import { version } from '../base/version.js'
import type { Config, ServerConfig } from '../config/config.js'
import type { Route } from '../http/request.js'
import { History } from '../misses/history.js'
import { addressOf } from '../pages/actions/address.js'
import { actionPages } from '../pages/actions/pages.js'
import type { PrintedOf } from '../pages/actions/running.js'
import { shortAddress } from '../pages/actions/short-address.js'
import { SavedBytesOf } from '../pages/builds/cache-use.js'
import { buildPages } from '../pages/builds/pages.js'
import type { RecentRows } from '../pages/builds/recent-rows.js'
import type { RequestGroups } from '../pages/builds/request-groups.js'
import type { LiveCounts } from '../pages/builds/row.js'
import { missPages } from '../pages/misses/pages.js'
import type { Page } from '../pages/page.js'
import { connectFor } from '../pages/server/connect.js'
import { activeOf, inQueueOf } from '../pages/server/queue.js'
import type { Overviews } from '../pages/server/sources.js'
import { Site } from '../pages/site.js'
import type { Digest } from '../reapi/digest.js'
import type { RequestRecord } from '../rpc/request-records.js'
import { type Scheduler, tellerOf } from '../scheduler/scheduler.js'
import type { Security } from '../security/security.js'
import type { LinkFor } from '../service/execution/operation-message.js'
import { pageStores } from './page-stores.js'
import type { Parts } from './services.js'

/** The address of the page with the forms for workers. */
export const WORKERS_ADDRESS = 'workers'

/** The pages of a server, which say until `serve` that it starts. Undefined if it has none. */
export const openSite = (
  { listener, services: { pages } }: ServerConfig,
  { clock, config, security }: SiteParts,
): Site | undefined =>
  pages &&
  new Site({
    path: pages.path,
    menu: [
      { title: 'Builds', address: '', isForOperators: false },
      { title: 'Tests', address: 'tests', isForOperators: false },
      { title: 'Trends', address: 'trends', isForOperators: false },
      ...(config.schedulers.size > 0 ? [{ title: 'Queue', address: 'queue', isForOperators: false }] : []),
      ...(config.schedulers.size > 0 ? [{ title: 'Workers', address: WORKERS_ADDRESS, isForOperators: true }] : []),
      ...(config.schedulers.size > 0 ? [{ title: 'Sizes', address: 'sizes', isForOperators: false }] : []),
      { title: 'Stores', address: 'stores', isForOperators: true },
      ...(config.security === undefined ? [] : [{ title: 'Scopes', address: 'scopes', isForOperators: true }]),
      { title: 'Server', address: 'server', isForOperators: true },
    ],
    isSecure: listener.tls !== undefined || pages.address?.startsWith('https:') === true,
    origin: pages.address,
    provider: () => security?.loginProvider,
    hasForm: takesSecrets(config),
    sessionMs: pages.session_s * 1000,
    version: version(),
    clock,
  })

interface SiteParts {
  readonly clock: Clock
  readonly config: Config
  readonly security: Security | undefined
}

/** Whether a reader can have a token or a password. */
const takesSecrets = ({ security }: Config): boolean => {
  const { tokens = [], tokens_file, jwt = [], htpasswd_file } = security?.identity ?? {}
  return tokens.length > 0 || jwt.length > 0 || tokens_file !== undefined || htpasswd_file !== undefined
}

export interface PageSources {
  readonly overviews: Overviews
  readonly requests: RequestGroups
  readonly recent: RecentRows
  readonly live: LiveCounts
  readonly schedulers: ReadonlyMap<string, Scheduler>
}

/** All pages, in the order in which their addresses are tried. */
export const pagesOf = (
  config: Config,
  parts: Parts,
  { overviews, requests, recent, live, schedulers }: PageSources,
): readonly Page[] => {
  const { servers } = config
  // Clients of the pages' own server are told how to use it.
  const home = servers.find(({ services }) => services.pages !== undefined)
  const { builds, records, log } = parts
  const storesOf = pageStores(servers, parts)
  const requestsOf = async (instance: string, { key }: Digest): Promise<readonly RequestRecord[]> =>
    (await History.read(instance, records, () => true)).ofAction(key)
  const misses = missPages({ storesOf, records, builds })
  return [
    ...buildPages(
      {
        links: { commit: home?.services.pages?.commit_url, pullRequest: home?.services.pages?.pull_request_url },
        ...{ builds, log, requests, records, live, sourcesOf: storesOf, saved: new SavedBytesOf() },
        casOf: (instance) => storesOf(instance)?.cas,
        inQueueOf: (visit, invocation) => inQueueOf(visit, overviews, { invocation }),
        activeOf: (visit, invocation) => activeOf(visit, overviews, invocation),
      },
      recent,
      [misses.tab],
      home && connectFor({ server: home, config }),
    ),
    ...actionPages({
      ...{ storesOf, requestsOf, printedOf: printedOutputs(overviews, schedulers) },
      inQueueOf: (visit, instance, { key: action }) => inQueueOf(visit, overviews, { instance, action }),
    }),
    ...misses.pages,
  ]
}

/**
 * The address of the page of an action, for messages to clients: on the first server that says how people reach it. It is short
 * for a build whose events are kept, because these remember its executions.
 */
export const linkOfActions = (
  servers: readonly ServerConfig[],
  publishes: (invocation: string) => boolean,
): LinkFor | undefined => {
  const [home] = servers.flatMap(({ services: { pages } }) =>
    pages?.address === undefined ? [] : [`${pages.address}${pages.path.replace(/\/$/, '')}`],
  )
  if (home === undefined) return undefined
  return (instance, action, kept, invocation) => {
    const short = publishes(invocation) ? shortAddress(action, invocation) : undefined
    if (short !== undefined) return `${home}/${short}`
    const address =
      kept === undefined
        ? addressOf(instance, 'action', action)
        : addressOf(instance, 'historical_execute_response', kept)
    return `${home}/${address.split('/').map(encodeURIComponent).join('/')}`
  }
}

/** What the actions print that run on workers of this process. */
const printedOutputs =
  (overviews: Overviews, schedulers: ReadonlyMap<string, Scheduler>): PrintedOf =>
  async (instance, { key }) => {
    for (const [name, { workers }] of overviews())
      for (const { id: worker, attempts } of workers)
        for (const { id, action, instance: of, state, startedMs } of attempts) {
          if (action !== key || of !== instance) continue
          const printed = await tellerOf(schedulers.get(name))?.printed(id, FROM_THE_BEGIN)
          return { worker, state, startedMs, printed }
        }
    return undefined
  }

const FROM_THE_BEGIN = { stdoutOffset: 0, stderrOffset: 0 }

/** A route for operators that browsers use: those who logged in by the form of the pages may use it too. */
export const ofPeople = (route: Route, site: Site | undefined): Route =>
  site === undefined ? route : { ...route, access: 'open', handler: site.forOperators(route) }
