import type { HealthStatus } from '../../../base/health.js'
import { isStatus, StatusError } from '../../../base/status-error.js'
import { BaseStore } from '../../../blobs/store.js'
import { codec } from '../../../proto/codec.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import type { Call } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import type { Range } from '../../../stream/path.js'
import { boundedMap, LANES } from '../../../work/bounded-map.js'
import type { Health } from './health.js'
import { METHODS, type RemoteServer } from './remote-server.js'
import type { SealedRecords } from './sealed-records.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

/** Larger than any result that servers accept. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024

/** The action cache of another server. Each blob is an ActionResult under the digest of its Action, or a record of this server. */
export class GrpcActionCacheStore extends BaseStore {
  readonly #server: RemoteServer
  readonly #health: Health
  readonly #records: SealedRecords

  constructor(server: RemoteServer, health: Health, records: SealedRecords) {
    super()
    this.#server = server
    this.#health = health
    this.#records = records
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
    const actionResult = digest.isOwn ? this.#records.resultOf(digest, bytes) : resultCodec.decode(bytes)
    const request = { ...this.#named(digest), actionResult }
    await this.#server.unary(METHODS.updateActionResult, request, call, true)
  }

  override async remove(digest: Digest): Promise<void> {
    throw new StatusError('UNIMPLEMENTED', `result ${digest} is another server's, which offers no way to remove it`)
  }

  override health({ signal }: Call): Promise<HealthStatus> {
    return this.#health(signal)
  }

  /** The encoded result, as it was received, or the record in it. */
  async #ask(digest: Digest, call: Call): Promise<Buffer> {
    const encoded = await this.#server.unary<Buffer>(METHODS.getActionResult, this.#named(digest), call, true)
    return digest.isOwn ? this.#records.recordIn(digest, encoded) : encoded
  }

  #named(digest: Digest): object {
    const { instanceName } = this.#server
    const action = digest.isOwn ? this.#records.actionOf(digest) : digest
    return { instanceName, actionDigest: action.toMessage(), digestFunction: action.function.value }
  }
}
