import type { CompletenessCheckingOptions } from '../../../config/config.js'
import { DirectoryTrees } from '../../../content/directory-trees.js'
import type { StoreKind } from '../../contract/kind.js'
import { oneForAll } from '../../contract/thread-use.js'
import { asCas } from '../../view/cas.js'
import { CompletenessCheckingStore } from './checking-store.js'

export const completenessChecking: StoreKind<CompletenessCheckingOptions> = {
  threads: () => oneForAll('service threads do not run this stage'),
  promise: ({ backend }, below) => below.child(backend),
  build: async ({ backend, cas_store }, context) => {
    const actionCache = await context.child(backend, 'backend')
    const cas = asCas(await context.child(cas_store, 'cas_store'))
    return new CompletenessCheckingStore(actionCache, cas, new DirectoryTrees())
  },
}
