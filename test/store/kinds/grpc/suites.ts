import type { Test } from 'tap'
import type { GrpcOptions, ReadBatching } from '../../../../src/config/config.js'
import type { TransportName } from '../../../../src/server/listener.js'
import { asCas } from '../../../../src/store/view/cas.js'
import { MIB, serve } from '../../../service/harness.js'
import { memoryStore } from '../../build.js'
import { storeSuite } from '../../suite.js'
import { endpoint, openGrpcStore } from './remexec.js'

const suiteOn = (
  t: Test,
  name: string,
  transport: TransportName,
  options: Partial<GrpcOptions>,
  isBrief = false,
): void =>
  storeSuite(t, {
    name: `grpc ${name}`,
    open: async (t: Test) => {
      const { listener } = await serve(t, { transport, instances: { main: { cas: asCas(await memoryStore()) } } })
      const port = Number(listener.address.split(':').at(-1))
      const { store, close } = await openGrpcStore(t, { endpoints: [endpoint(port)], ...options })
      return {
        store,
        close: async () => {
          await close()
          await listener.close(0)
        },
      }
    },
    isPersistent: false,
    isBrief,
    checksUploads: true,
    removes: false,
    isElsewhere: true,
    runs: 6,
  })

const batching = (max_blob_size_bytes: number): ReadBatching => ({
  max_blob_size_bytes,
  max_batch_bytes: 3 * MIB,
  dispatch_slots: 2,
  max_queued_bytes: 8 * MIB,
})
const plain = { experimental_remote_cache_compression: false } as const

/** The suite over another server, in full at least over our transport. */
export const grpcSuites = (t: Test, isAllInFull: boolean): void => {
  suiteOn(t, 'over our transport', 'remexec', {})
  const single = { ...plain, experimental_read_batching: batching(0) }
  suiteOn(t, 'over our transport, plain and each blob by itself', 'remexec', single, !isAllInFull)
  const several = { ...plain, connections_per_endpoint: 3, max_concurrent_requests: 8 }
  const name = "over grpc-js, with several connections and requests that wait for each other's end"
  suiteOn(t, name, 'grpc-js', several, !isAllInFull)
}
