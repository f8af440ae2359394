import t from 'tap'
import { Code } from '../../src/base/status-error.js'
import { unpack } from '../../src/proto/any.js'
import { codec } from '../../src/proto/codec.js'
import { startServer } from '../clients/server.js'
import { TestClient } from '../server/client.js'
import { AC, buildAction, EXECUTION, Reader, responseOf } from './execution-harness.js'
import { type Blob, blobOf, CAS, failure, wire } from './harness.js'

// The server as it runs, with a worker. Its store is so small that uploads of others break promises.

const failureCodec = codec('google.rpc.PreconditionFailure')

t.test(
  'an action whose output and input were evicted asks for the input, and only for that, and then runs again',
  async (t) => {
    const env = { REMEXEC_CAS_SIZE: '400kb', REMEXEC_CAS_EVICT: '0' }
    const server = await startServer(t, t.testdir(), { env })
    const client = new TestClient(server.uri.replace('grpc://', ''))
    t.teardown(() => client.close())
    const upload = (blobs: readonly Blob[], instanceName = '') =>
      client.unary(`${CAS}/BatchUpdateBlobs`, {
        instanceName,
        requests: blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes })),
      }).response
    const missing = async (...blobs: readonly Blob[]): Promise<readonly string[]> => {
      const request = { blobDigests: blobs.map(({ digest }) => wire(digest)) }
      const { missingBlobDigests } = await client.unary(`${CAS}/FindMissingBlobs`, request).response
      return missingBlobDigests.map(({ hash }: { hash: string }) => hash)
    }

    const input = blobOf('an input')
    const output = blobOf('an inputan input')
    const built = buildAction({
      command: { arguments: ['sh', '-c', 'cat in in > out'], outputPaths: ['out'] },
      root: { files: [{ name: 'in', digest: wire(input.digest) }] },
    })
    const { action, command, root } = built
    /** That no worker has had. */
    const other = blobOf('another input')
    const next = buildAction({
      command: { arguments: ['sh', '-c', 'cat other other > out'], outputPaths: ['out'] },
      root: { files: [{ name: 'other', digest: wire(other.digest) }] },
    })
    const execute = async (of = built) => {
      const request = { actionDigest: wire(of.digest) }
      const messages = await new Reader(client.serverStream(`${EXECUTION}/Execute`, request)).rest()
      const last = messages.at(-1)
      if (last === undefined) throw new Error('no operation')
      return responseOf(last)
    }
    const missingIn = ({ status }: Awaited<ReturnType<typeof execute>>) =>
      (status?.details ?? []).flatMap((detail) =>
        unpack(failureCodec, detail).violations.map(({ type, subject }) => `${type} ${subject}`),
      )
    const named = ({ digest: { hash, sizeBytes } }: Blob): string => `MISSING blobs/${hash}/${sizeBytes}`

    await upload([action, command, root, input, other])
    const first = await execute()
    t.match(first, { status: null, cachedResult: false, result: { outputFiles: [{ path: 'out' }] } })
    t.equal((await execute()).cachedResult, true, 'a hit while everything is there')

    for (let at = 0; at < 20; at++) await upload([blobOf(`flood ${at} ${'x'.repeat(60_000)}`)], 'other')
    t.same(
      await missing(action, command, root, input, output),
      [action, command, root, input, output].map(({ digest }) => digest.hash),
    )
    t.match(await failure(client.unary(`${AC}/GetActionResult`, { actionDigest: wire(built.digest) }).response), {
      code: 'NOT_FOUND',
      message: new RegExp(`output ${output.digest.hash}-16 is no longer in the CAS`),
    })

    const unknown = await execute()
    t.equal(unknown.status?.code, Code.FAILED_PRECONDITION)
    t.same(missingIn(unknown), [named(action)])

    await upload([action, command, root])
    t.match(await execute(), { status: null, cachedResult: false }, 'the worker has kept its input root')
    t.same(await missing(input, output), [input.digest.hash], 'the output is there again')

    await upload([next.action, next.command, next.root])
    const lost = await execute(next)
    t.equal(lost.status?.code, Code.FAILED_PRECONDITION, 'found by the worker')
    t.equal(lost.status?.details.length, 1)
    t.same(missingIn(lost), [named(other)])
    t.equal(lost.result, null)

    await upload([other])
    const again = await execute(next)
    t.match(again, { status: null, cachedResult: false, result: { exitCode: 0 } })
    t.equal((await execute(next)).cachedResult, true)
  },
)
