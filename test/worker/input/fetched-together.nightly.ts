/** Small inputs of a worker whose store has another server behind it are fetched in few calls. */
import t from 'tap'
import { fastSlow } from '../../../src/store/kinds/fast_slow/kind.js'
import { leaseInputs } from '../../../src/worker/input/lease.js'
import { bytesOf, call, digestOf, get, putAll } from '../../store/blobs.js'
import { buildStore, given, tierDefaults } from '../../store/build.js'
import { openFilesystem } from '../../store/kinds/filesystem/open.js'
import { endpoint, openGrpcStore, startRemexec } from '../../store/kinds/grpc/remexec.js'
import { folderOf } from '../../store/remote/backend.js'
import { until } from '../../until.js'

// For changes in: src/worker/input, src/store/kinds/fast_slow, src/store/kinds/grpc

const INPUTS = 200

t.test('small inputs are fetched together, in far fewer calls than there are inputs', async (t) => {
  const server = await startRemexec(t, { env: { REMEXEC_LOG_LEVEL: 'debug', REMEXEC_LOG_FORMAT: 'json' } })
  const callsOf = (method: string): number => server.log().split(`/${method}"`).length - 1
  const { store: slow } = await openGrpcStore(t, { endpoints: [endpoint(server.port)] })
  const { store: fast, close } = await openFilesystem(await folderOf(t))
  t.teardown(close)
  const store = await buildStore(
    fastSlow,
    {
      fast: given,
      slow: given,
      ...tierDefaults,
    },
    { children: { fast, slow } },
  )
  const inputs = Array.from({ length: INPUTS }, (_, at) => bytesOf(1000, `input ${at}`))
  const blobs = inputs.map((bytes) => ({ digest: digestOf(bytes), bytes }))
  await putAll(slow, blobs)
  const digests = blobs.map(({ digest }) => digest)
  const lease = await leaseInputs({ blobs: digests, missing: [] }, store, call)
  t.teardown(() => lease.release())
  for (const { digest, bytes } of blobs) t.same(await get(fast, digest), bytes)
  // Its log line follows those of all earlier calls.
  await t.rejects(get(slow, digestOf(bytesOf(1_000_000))))
  await until(async () => callsOf('Read') > 0)
  t.equal(callsOf('Read'), 1)
  const batches = callsOf('BatchReadBlobs')
  t.ok(batches > 0 && batches <= INPUTS / 4, `${batches} calls for ${INPUTS} inputs`)
})
