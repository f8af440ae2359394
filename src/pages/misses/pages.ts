import type { Page } from '../page.js'
import { buildMissesPage } from './build.js'
import { comparePage } from './compare.js'
import { missPage } from './miss.js'
import { type MissPagesParts, MissSources } from './parts.js'

/** The pages that say why actions missed and how they differ. */
export const missPages = (parts: MissPagesParts): readonly Page[] => {
  const sources = new MissSources(parts)
  return [buildMissesPage(sources), missPage(sources), comparePage(sources)]
}
