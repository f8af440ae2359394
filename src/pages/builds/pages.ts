import type { ComponentChild } from 'preact'
import { inBackground } from '../../work/in-background.js'
import type { Page, Visit } from '../page.js'
import { type BuildPagesParts, type InvocationTab, invocationPages } from './invocation.js'
import { listPage } from './list.js'
import { rawLogPage } from './raw-log.js'
import { RecentRows } from './recent-rows.js'
import { cacheTab } from './tabs/cache.js'
import { commandTab } from './tabs/command.js'
import { logTab } from './tabs/log.js'
import { overviewTab } from './tabs/overview.js'
import { targetsTab } from './tabs/targets.js'
import { testsTab } from './tabs/tests.js'
import { timingTab } from './tabs/timing.js'

const TABS = [overviewTab, targetsTab, testsTab, logTab, timingTab, cacheTab]

/** `moreTabs` of an invocation come from other rooms. */
export const buildPages = (
  parts: BuildPagesParts,
  moreTabs: readonly InvocationTab[],
  connect: ((visit: Visit) => ComponentChild) | undefined,
): readonly Page[] => {
  const recent = new RecentRows(parts)
  inBackground(recent.prepare(), parts.log, 'preparing the list of builds')
  return [
    listPage((visit) => recent.for(visit), connect),
    rawLogPage(parts),
    ...invocationPages(parts, [...TABS, ...moreTabs, commandTab]),
  ]
}
