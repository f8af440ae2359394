import type { Test } from 'tap'
import { memoryStore } from './build.js'
import { openFilesystem } from './kinds/filesystem/open.js'
import { type OpenStore, storeSuite } from './suite.js'
import { groups, type Wrapper, wrappers } from './wrappers.js'

// Wrappers must forward correctly over any backend. Each night every wrapper runs over files and over every other
// wrapper. For each change, wrappers run over the contract double (test/store/pairs/over-double.test.ts).

/** Views of a store, which are never a backend. */
const VIEWS = ['CAS', 'AC', 'an isolated instance over', 'a limited instance over']

/** They change no keys; two pairs are enough. */
const TOLD_BY_TWO = ['CAS', 'AC']

const suiteOf = (t: Test, name: string, checksUploads: boolean, open: (t: Test) => Promise<OpenStore>): void =>
  storeSuite(t, { name, open, isPersistent: false, checksUploads, runs: 3 })

/** The suite over each wrapper of a group, on files and on every wrapper over memory. */
export const pairsUnder = (t: Test, group: keyof typeof groups): void => {
  for (const [outer, wrapper] of Object.entries(groups[group])) pairs(t, outer, wrapper)
}

const pairs = (t: Test, outer: string, { wrap, checksUploads = false, isBeside = false, changes }: Wrapper): void => {
  suiteOf(t, `${outer} filesystem`, checksUploads, async (t) => {
    const { store, close, tempFiles } = await openFilesystem(t.testdir())
    return { store: await wrap(store), close, leftovers: tempFiles }
  })
  for (const [inner, below] of Object.entries(wrappers)) {
    const isView = VIEWS.includes(inner) || (TOLD_BY_TWO.includes(outer) && inner !== 'memory in front of')
    const cannotCheck = isBeside || changes === 'bytes'
    if (isView || (below.checksUploads === true && cannotCheck)) continue
    suiteOf(t, `${outer} ${inner} memory`, checksUploads || below.checksUploads === true, async () => ({
      store: await wrap(await below.wrap(await memoryStore())),
      close: async () => {},
    }))
  }
}
