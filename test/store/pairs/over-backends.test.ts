import t from 'tap'
import { openFilesystem } from '../kinds/filesystem/open.js'
import { storeSuite } from '../suite.js'
import { wrappers } from '../wrappers.js'
import { wrappersOver } from './over-backend.js'

// One wrapper over each real backend, a different one for each. The rest of the product runs each night.

t.setTimeout(600_000)

wrappersOver(t, 'redis_store', ['memory in front of'])
wrappersOver(t, 'S3', ['zstd'])
wrappersOver(t, 'Google Cloud Storage', ['lz4'])
wrappersOver(t, 'Azure Blob Storage', ['verify'])
wrappersOver(t, 'experimental_mongo', ['chunks in memory, listed in'])
wrappersOver(t, 'grpc', ['existence_cache over'])

storeSuite(t, {
  name: 'nothing behind a filesystem',
  isPersistent: false,
  isBrief: true,
  runs: 5,
  open: async (t) => {
    const { store, close, tempFiles } = await openFilesystem(t.testdir())
    return { store: (await wrappers['nothing behind']?.wrap(store)) ?? store, close, leftovers: tempFiles }
  },
})
