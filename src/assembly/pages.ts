import type { Clock } from '../base/clock.js'
import { version } from '../base/version.js'
import type { ServerConfig } from '../config/config.js'
import type { Route } from '../http/request.js'
import { History } from '../misses/history.js'
import { addressOf } from '../pages/actions/address.js'
import { actionPages } from '../pages/actions/pages.js'
import { buildPages } from '../pages/builds/pages.js'
import { missPages } from '../pages/misses/pages.js'
import type { Page } from '../pages/page.js'
import { Site } from '../pages/site.js'
import type { Digest } from '../reapi/digest.js'
import type { RequestRecord } from '../rpc/request-records.js'
import type { LinkOf } from '../service/execution/operation-message.js'
import { pageStores } from './page-stores.js'
import type { Parts } from './services.js'

/** The address of the status page below that of the pages. */
export const STATUS_ADDRESS = 'server'

/** The pages of a server, which say until `serve` that it starts. Undefined if it has none. */
export const openSite = ({ listener, services: { pages } }: ServerConfig, clock: Clock): Site | undefined =>
  pages &&
  new Site({
    path: pages.path,
    menu: [
      { title: 'Builds', address: '' },
      { title: 'Server', address: STATUS_ADDRESS },
    ],
    isSecure: listener.tls !== undefined || pages.address?.startsWith('https:') === true,
    sessionMs: pages.session_s * 1000,
    version: version(),
    clock,
  })

/** All pages, in the order in which their addresses are tried. */
export const pagesOf = (servers: readonly ServerConfig[], parts: Parts): readonly Page[] => {
  const { builds, records } = parts
  const storesOf = pageStores(servers, parts)
  const requestsOf = async (instance: string, { key }: Digest): Promise<readonly RequestRecord[]> =>
    (await History.read(instance, records)).ofAction(key)
  const misses = missPages({ storesOf, records, builds })
  return [
    ...buildPages({ builds, records, casOf: (instance) => storesOf(instance)?.cas }, [misses.tab]),
    ...actionPages({ storesOf, requestsOf }),
    ...misses.pages,
  ]
}

/** The address of the page of an action, for messages to clients: on the first server that says how people reach it. */
export const linkOfActions = (servers: readonly ServerConfig[]): LinkOf | undefined => {
  const [home] = servers.flatMap(({ services: { pages } }) =>
    pages?.address === undefined ? [] : [`${pages.address}${pages.path.replace(/\/$/, '')}`],
  )
  if (home === undefined) return undefined
  return (instance, action) =>
    `${home}/${addressOf(instance, 'action', action).split('/').map(encodeURIComponent).join('/')}`
}

/** A route for operators that browsers use: those who logged in by the form of the pages may use it too. */
export const ofPeople = (route: Route, site: Site | undefined): Route =>
  site === undefined ? route : { ...route, access: 'open', handler: site.forOperators(route) }
