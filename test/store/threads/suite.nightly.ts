// For changes in: src/store/kinds/filesystem, src/store/index, src/assembly
import t from 'tap'
import { storeSuite } from '../suite.js'
import { wrappers } from '../wrappers.js'
import { Crew } from './crew.js'

t.setTimeout(900_000)

const crew = await Crew.start(4)
t.teardown(() => crew.stop())

for (const small_blob_size of [64 * 1024, 0])
  storeSuite(t, {
    name: `filesystem used from four threads, records up to ${small_blob_size} bytes`,
    isPersistent: true,
    open: async (t) => {
      const folder = t.testdir()
      const open = () => crew.open(folder, { small_blob_size })
      const first = await open()
      let current = first
      return {
        store: first.store,
        close: () => current.close(),
        leftovers: () => first.tempFiles(),
        reopen: async () => {
          await first.close()
          current = await open()
          return current
        },
      }
    },
  })

for (const [outer, { wrap, checksUploads = false }] of Object.entries(wrappers))
  storeSuite(t, {
    name: `${outer} filesystem used from four threads`,
    isPersistent: false,
    checksUploads,
    runs: 3,
    open: async (t) => {
      const { store, close, tempFiles } = await crew.open(t.testdir())
      return { store: await wrap(store), close, leftovers: tempFiles }
    },
  })
