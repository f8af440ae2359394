import type { Case } from './case.js'
import { actionResultCases } from './cases/action-result.js'
import { batchCases } from './cases/batch.js'
import { chunkCases, chunkInputCases } from './cases/chunks.js'
import { dispatchCases } from './cases/dispatch.js'
import { dispatchOnTheWireCases } from './cases/dispatch-on-the-wire.js'
import { durabilityCases } from './cases/durability.js'
import { evictionCases } from './cases/eviction.js'
import { findMissingCases } from './cases/find-missing.js'
import { handingInCases } from './cases/handing-in.js'
import { httpCacheCases } from './cases/http-cache.js'
import { imageCases } from './cases/image.js'
import { inputRootCases } from './cases/input-root.js'
import { meanwhileCases } from './cases/meanwhile.js'
import { memoryCases } from './cases/memory.js'
import { newObjectCases } from './cases/new-objects.js'
import { noOpCases } from './cases/no-op.js'
import { observedCases } from './cases/observed.js'
import { pageCases } from './cases/pages.js'
import { partCases } from './cases/parts.js'
import { persistentWorkerCases } from './cases/persistent-worker.js'
import { probeCases } from './cases/probes.js'
import { queueOfServersCases } from './cases/queue-of-servers.js'
import { readCases } from './cases/read.js'
import { securedCases } from './cases/secured.js'
import { sessionCases } from './cases/session.js'
import { shippedCases } from './cases/shipped.js'
import { startUpCases } from './cases/start-up.js'
import { storeKindCases } from './cases/store-kinds.js'
import { streamCases } from './cases/streams.js'
import { threadCases } from './cases/threads.js'
import { trueCases } from './cases/true.js'
import { unseenPagesCases } from './cases/unseen-pages.js'
import { writeCases } from './cases/write.js'
import { youngCases } from './cases/young.js'
import { zstdAtRestCases } from './cases/zstd-at-rest.js'

/** In the order of the table. A new case is a file in cases/ and a line here. */
export const allCases = ({ clients }: { readonly clients: number }): readonly Case[] => [
  ...findMissingCases(),
  ...actionResultCases(),
  ...batchCases(),
  ...writeCases(),
  ...readCases(),
  ...streamCases(),
  ...partCases(),
  ...chunkCases(),
  ...newObjectCases(),
  ...httpCacheCases(),
  ...securedCases(),
  ...threadCases(),
  ...shippedCases(),
  ...sessionCases(clients),
  ...observedCases(),
  ...unseenPagesCases(),
  ...probeCases(),
  ...noOpCases(),
  ...queueOfServersCases(),
  ...dispatchCases(),
  ...dispatchOnTheWireCases(),
  ...handingInCases(),
  ...meanwhileCases(),
  ...trueCases(),
  ...inputRootCases(),
  ...persistentWorkerCases(),
  ...imageCases(),
  ...chunkInputCases(),
  ...memoryCases(),
  ...startUpCases(),
  ...youngCases(),
  ...evictionCases(),
  ...durabilityCases(),
  ...zstdAtRestCases(),
  ...storeKindCases(),
  ...pageCases(),
]
