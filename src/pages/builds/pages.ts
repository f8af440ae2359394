import type { ComponentChild } from 'preact'
import type { Page, Visit } from '../page.js'
import { DetailsOfBuilds } from './details.js'
import { type BuildPagesParts, type InvocationTab, invocationPages } from './invocation.js'
import { listPage } from './list.js'
import { rawLogPage } from './raw-log.js'
import type { RecentRows } from './recent-rows.js'
import { READ_BUILDS } from './row.js'
import { shortLinkPage } from './short-link.js'
import { artifactsTab } from './tabs/artifacts.js'
import { cacheTab } from './tabs/cache.js'
import { commandTab } from './tabs/command.js'
import { logTab } from './tabs/log.js'
import { overviewTab } from './tabs/overview.js'
import { targetsTab } from './tabs/targets.js'
import { testsTab } from './tabs/tests.js'
import { timingTab } from './tabs/timing.js'
import { testHistoryPage } from './test-pages.js'
import { trendPage } from './trend-page.js'

const TABS = [overviewTab, targetsTab, artifactsTab, testsTab, logTab, timingTab, cacheTab]

/** `moreTabs` of an invocation come from other rooms. */
export const buildPages = (
  parts: BuildPagesParts,
  recent: RecentRows,
  moreTabs: readonly InvocationTab[],
  connect: ((visit: Visit) => ComponentChild) | undefined,
): readonly Page[] => {
  const all = parts.builds && new DetailsOfBuilds(parts.builds)
  return [
    listPage((visit) => recent.all((instance) => visit.may(READ_BUILDS, instance)), connect),
    rawLogPage(parts),
    shortLinkPage(parts, all),
    testHistoryPage(parts),
    trendPage(parts),
    ...invocationPages(parts, all, [...TABS, ...moreTabs, commandTab]),
  ]
}
