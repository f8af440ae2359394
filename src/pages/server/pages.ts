import type { Page } from '../page.js'
import { queuePage } from './queue.js'
import { scopesPage } from './scopes.js'
import { serverPage } from './server.js'
import { sizesPage } from './sizes.js'
import type { ServerSources } from './sources.js'
import { storesPage } from './stores.js'
import { workersPage } from './workers.js'

/** Pages about the server itself, which answer from its start on. */
export const serverPages = (sources: ServerSources): readonly Page[] => [
  ...[queuePage(sources), workersPage(sources), sizesPage(sources), serverPage(sources)].map((page) =>
    upToDate(page, sources),
  ),
  storesPage(sources),
  scopesPage(sources),
]

/** A page about queues, some of which may be in another process. */
const upToDate = ({ show, ...page }: Page, { refresh }: ServerSources): Page => ({
  ...page,
  show: async (visit) => {
    await refresh()
    return show(visit)
  },
})
