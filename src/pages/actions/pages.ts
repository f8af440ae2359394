import type { Page } from '../page.js'
import { type ActionPageParts, actionPage, responsePage } from './action.js'
import { commandPage } from './command.js'
import { directoryPage, treePage } from './directory.js'
import { filePage } from './file.js'

/** The action browser. */
export const actionPages = (parts: ActionPageParts): readonly Page[] => [
  actionPage(parts),
  responsePage(parts),
  commandPage(parts),
  directoryPage(parts),
  treePage(parts),
  filePage(parts),
]
