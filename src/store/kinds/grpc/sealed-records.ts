import { createHmac, timingSafeEqual } from 'node:crypto'
import { StatusError } from '../../../base/status-error.js'
import { decodeRecord } from '../../../content/own-record.js'
import { holds, pack, unpack } from '../../../proto/any.js'
import { codec } from '../../../proto/codec.js'
import type { ActionResultInput } from '../../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../../reapi/digest.js'
import { digestFunctions } from '../../../reapi/digest-function.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const sealedCodec = codec('remexec.record.v1.SealedRecord')

const SHA256 = digestFunctions.SHA256

/**
 * Records of the server (`Digest.ofOwn`) as results of another server, which knows only digests of REAPI. Digest and seal are
 * made with a secret: clients of that server can neither find the digest of a record nor write a record that is believed.
 */
export class SealedRecords {
  readonly #secret: string | undefined

  constructor(secret: string | undefined) {
    this.#secret = secret
  }

  /** The digest of an Action that no Action has. */
  actionOf(key: Digest): Digest {
    const hash = this.#hmac('key', key).toString('hex')
    return Digest.parse({ hash, sizeBytes: key.sizeBytes }, SHA256)
  }

  /** The result has the same blobs, so that the other server keeps them as long as the record. */
  resultOf(key: Digest, record: Buffer): ActionResultInput {
    const { blobs, rootDirectories, trees } = decodeRecord(key, record)
    const isKnown = [...blobs, ...rootDirectories, ...trees].every((digest) => digest.function === SHA256)
    const sealed = pack(sealedCodec, { record, seal: this.#hmac('record', key, record) })
    return {
      outputFiles: isKnown ? blobs.map((digest, at) => ({ path: `blobs/${at}`, digest: digest.toMessage() })) : [],
      outputDirectories: isKnown
        ? [
            ...rootDirectories.map((root, at) => ({
              path: `directories/${at}`,
              rootDirectoryDigest: root.toMessage(),
            })),
            ...trees.map((tree, at) => ({ path: `trees/${at}`, treeDigest: tree.toMessage() })),
          ]
        : [],
      executionMetadata: { auxiliaryMetadata: [sealed] },
    }
  }

  /** Throws NOT_FOUND for a result that is no record, or that was not sealed with this secret for this key. */
  recordIn(key: Digest, encoded: Buffer): Buffer {
    const { executionMetadata } = resultCodec.decode(encoded)
    const packed = executionMetadata?.auxiliaryMetadata.find((any) => holds(any, sealedCodec))
    const { record, seal } = packed === undefined ? NOTHING : unpack(sealedCodec, packed)
    const expected = this.#hmac('record', key, record)
    if (seal.length === expected.length && timingSafeEqual(seal, expected)) return record
    throw new StatusError('NOT_FOUND', `the record under ${key.key} is not sealed with this record_secret`)
  }

  #hmac(use: 'key' | 'record', key: Digest, record: Buffer = EMPTY): Buffer {
    if (this.#secret === undefined) {
      const what = 'this action cache of another server keeps no entries of HTTP caches, no assets and no scopes'
      throw new StatusError('FAILED_PRECONDITION', `${what}: expected record_secret`)
    }
    return createHmac('sha256', this.#secret).update(`${use}\0${key.key}\0`).update(record).digest()
  }
}

const EMPTY = Buffer.alloc(0)
const NOTHING = { record: EMPTY, seal: EMPTY }
