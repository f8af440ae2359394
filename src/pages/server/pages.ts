import type { Page } from '../page.js'
import { queuePage } from './queue.js'
import { serverPage } from './server.js'
import type { ServerSources } from './sources.js'
import { storesPage } from './stores.js'
import { workersPage } from './workers.js'

/** Pages about the server itself, which answer from its start on. */
export const serverPages = (sources: ServerSources): readonly Page[] => [
  queuePage(sources),
  workersPage(sources),
  storesPage(sources),
  serverPage(sources),
]
