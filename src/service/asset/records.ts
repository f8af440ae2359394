import { isStatus } from '../../base/status-error.js'
import { getBytes, putBytes, type Store } from '../../blobs/store.js'
import { decodeRecord, encodeRecord } from '../../content/own-record.js'
import { codec } from '../../proto/codec.js'
import type { Qualifier } from '../../proto/generated/build.bazel.remote.asset.v1.js'
import { timestampOf, toMs } from '../../proto/time.js'
import { Digest } from '../../reapi/digest.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import type { Call } from '../../rpc/call.js'
import type { AssetRecord, RecordKind } from './asset-record.js'
import { decodeOlderRecord, keyOfOlderRecord } from './older-records.js'

const assetCodec = codec('remexec.asset.v1.Asset')

const MAX_RECORD_BYTES = 64 * 1024 * 1024

/** What a record is known by. */
export type AssetName = readonly [RecordKind | 'checksum', ...string[]]

/**
 * Assets by name, in a store of keys: each is a record under a key that no digest of a client is equal to. It refers to the asset
 * and to all that the asset refers to: `store` returns only complete records, and finding one counts as a use of its content.
 */
export class AssetRecords {
  readonly #store: Store
  readonly #readsOlder: boolean

  /** `readsOlder`: pushes to an older version are found, which every client that may write results could have written. */
  constructor(store: Store, readsOlder: boolean) {
    this.#store = store
    this.#readsOlder = readsOlder
  }

  /** Undefined if there is no record, or if content of it is no longer in the CAS. */
  async get(name: AssetName, digestFunction: DigestFunction, call: Call): Promise<AssetRecord | undefined> {
    const key = keyOf(name)
    const found = await this.#read(key, (bytes) => recordIn(key, bytes, digestFunction), call)
    if (found !== undefined || !this.#readsOlder || !isOfPush(name)) return found
    return this.#read(keyOfOlderRecord(name), (bytes) => decodeOlderRecord(bytes, digestFunction), call)
  }

  put(name: AssetName, record: AssetRecord, call: Call): Promise<void> {
    const key = keyOf(name)
    return putBytes(this.#store, key, encodeRecord(key, recordOf(record)), call)
  }

  /** What cannot be decoded is absent: it is no mistake of the reader. */
  async #read(
    key: Digest,
    decode: (bytes: Buffer) => AssetRecord | undefined,
    call: Call,
  ): Promise<AssetRecord | undefined> {
    try {
      const bytes = await getBytes(this.#store, key, MAX_RECORD_BYTES, call)
      return decode(bytes)
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) return undefined
      if (!isStatus(error, 'INVALID_ARGUMENT')) throw error
      call.log.warn('the record of an asset is damaged: it counts as absent', { key: key.key, error })
      return undefined
    }
  }
}

/** The record of a URI with these qualifiers, which are in the order of their names. */
export const nameOfUri = (
  kind: RecordKind,
  uri: string,
  qualifiers: readonly Qualifier[],
  digestFunction: DigestFunction,
): AssetName => [kind, digestFunction.name, uri, ...qualifiers.flatMap(({ name, value }) => [name, value])]

/** The record of a blob whose content was checked, by its checksum. */
export const nameOfChecksum = (algorithm: string, hash: string, digestFunction: DigestFunction): AssetName => [
  'checksum',
  digestFunction.name,
  algorithm,
  hash,
]

const keyOf = (name: AssetName): Digest => Digest.ofOwn('ASSET', JSON.stringify(name))

/** Downloads can be done again, and content behind a checksum was checked by this server only. */
const isOfPush = ([kind]: AssetName): boolean => kind === 'blob' || kind === 'directory'

/** All content of a record: the asset first. */
export const contentOf = ({ kind, digest, blobs, directories }: AssetRecord) => ({
  blobs: kind === 'blob' ? [digest, ...blobs] : blobs,
  rootDirectories: kind === 'directory' ? [digest, ...directories] : directories,
})

const recordOf = (record: AssetRecord) => {
  const { kind, digest, uri, qualifiers, validAtMs, expiresAtMs, etag, identity = '' } = record
  const details = assetCodec.encode({
    ...{ uri, qualifiers: [...qualifiers], validAt: timestampOf(validAtMs), etag, identity },
    expiresAt: expiresAtMs === undefined ? null : timestampOf(expiresAtMs),
    ...{ digest: digest.toMessage(), isDirectory: kind === 'directory' },
  })
  return { ...contentOf(record), details }
}

const recordIn = (key: Digest, bytes: Buffer, digestFunction: DigestFunction): AssetRecord => {
  const { blobs, rootDirectories, details } = decodeRecord(key, bytes)
  const { uri, qualifiers, validAt, expiresAt, etag, digest, isDirectory } = assetCodec.decode(details)
  return {
    ...{ kind: isDirectory ? 'directory' : 'blob', uri, qualifiers, etag },
    digest: Digest.parse(digest, digestFunction, 'the digest of a stored asset'),
    validAtMs: validAt === null ? 0 : toMs(validAt),
    expiresAtMs: expiresAt === null ? undefined : toMs(expiresAt),
    blobs: isDirectory ? blobs : blobs.slice(1),
    directories: isDirectory ? rootDirectories.slice(1) : rootDirectories,
  }
}
