import type { HealthStatus } from '../../../base/health.js'
import { isStatus, StatusError } from '../../../base/status-error.js'
import { codec } from '../../../proto/codec.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import type { Call } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import type { Range } from '../../../stream/path.js'
import { boundedMap, LANES } from '../../../work/bounded-map.js'
import { BaseStore } from '../../contract/store.js'
import type { Health } from './health.js'
import { METHODS, type RemoteServer } from './remote-server.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** Larger than any result that servers accept. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024

/** The action cache of another server. Each blob is an ActionResult under the digest of its Action. */
export class GrpcActionCacheStore extends BaseStore {
  readonly #server: RemoteServer
  readonly #health: Health

  constructor(server: RemoteServer, health: Health) {
    super()
    this.#server = server
    this.#health = health
  }

  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const absent = await boundedMap(digests.digests(), LANES, (digest) =>
      this.#ask(digest, call).then(
        () => false,
        (error: unknown) => {
          if (isStatus(error, 'NOT_FOUND')) return true
          throw error
        },
      ),
    )
    return digests.select(absent.flatMap((isAbsent, index) => (isAbsent ? [index] : [])))
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const bytes = await this.#ask(digest, call)
    return Blob.ofPart(bytes, range, digest.key)
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const bytes = await blob.bytes(MAX_RESULT_BYTES, call)
    const request = { ...this.#named(digest), actionResult: resultCodec.decode(bytes) }
    await this.#server.unary(METHODS.updateActionResult, request, call, true)
  }

  override async remove(digest: Digest): Promise<void> {
    throw new StatusError('UNIMPLEMENTED', `result ${digest} is another server's, which offers no way to remove it`)
  }

  override health({ signal }: Call): Promise<HealthStatus> {
    return this.#health(signal)
  }

  /** The encoded result, as it was received. */
  #ask(digest: Digest, call: Call): Promise<Buffer> {
    return this.#server.unary<Buffer>(METHODS.getActionResult, this.#named(digest), call, true)
  }

  #named(digest: Digest): object {
    const { instanceName } = this.#server
    return { instanceName, actionDigest: digest.toMessage(), digestFunction: digest.function.value }
  }
}
