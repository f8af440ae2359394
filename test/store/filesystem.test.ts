import t from 'tap'
import { openFilesystem } from './filesystem/open.js'
import { storeSuite } from './suite.js'

storeSuite(t, {
  name: 'filesystem',
  isPersistent: true,
  open: async (t) => {
    const folder = t.testdir()
    const first = await openFilesystem(folder)
    let current = first
    return {
      store: first.store,
      close: () => current.close(),
      leftovers: () => first.tempFiles(),
      reopen: async () => {
        await first.close()
        current = await openFilesystem(folder)
        return current
      },
    }
  },
})
