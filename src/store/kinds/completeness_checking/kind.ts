import type { Store } from '../../../blobs/store.js'
import type { CompletenessCheckingOptions } from '../../../config/config.js'
import { DirectoryTrees } from '../../../content/directory-trees.js'
import type { StageContext, StoreKind } from '../../contract/kind.js'
import { asCas } from '../../view/cas.js'
import { CompletenessCheckingStore } from './checking-store.js'

const stage = async ({ backend, cas_store }: CompletenessCheckingOptions, { child }: StageContext): Promise<Store> => {
  const actionCache = await child(backend, 'backend')
  const cas = asCas(await child(cas_store, 'cas_store'))
  return new CompletenessCheckingStore(actionCache, cas, new DirectoryTrees())
}

export const completenessChecking: StoreKind<CompletenessCheckingOptions> = {
  threads: ({ backend, cas_store }, below) =>
    below.stage({ backend: below.child(backend, 'backend'), cas_store: below.child(cas_store, 'cas_store') }),
  promise: ({ backend }, below) => below.child(backend),
  build: stage,
  stage,
}
