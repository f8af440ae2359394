import type { Builds } from '../../builds/builds.js'
import type { Page } from '../page.js'
import { listPage } from './list.js'
import { rowOf } from './row.js'

/** What the pages about builds read. */
export interface BuildPagesParts {
  /** Undefined if no server takes build events. */
  readonly builds: Builds | undefined
}

/** The permission that a reader needs in the instance of a build. */
export const READ_BUILDS = 'read_ac'

export const buildPages = ({ builds }: BuildPagesParts): readonly Page[] => [
  listPage((visit) => {
    const kept = builds?.list() ?? []
    return kept.filter(({ summary }) => visit.may(READ_BUILDS, summary.about.instance)).map(rowOf)
  }),
]
