import type { InvocationTab } from '../builds/invocation.js'
import type { Page } from '../page.js'
import { missesTab } from './build.js'
import { comparePage } from './compare.js'
import { missPage } from './miss.js'
import { type MissPagesParts, MissSources } from './parts.js'

/** What says why actions missed and how they differ: a tab of each build, and pages. */
export const missPages = (parts: MissPagesParts): { readonly tab: InvocationTab; readonly pages: readonly Page[] } => {
  const sources = new MissSources(parts)
  return { tab: missesTab(sources), pages: [missPage(sources), comparePage(sources)] }
}
