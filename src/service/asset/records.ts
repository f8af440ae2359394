import { isStatus } from '../../base/status-error.js'
import { holds, pack, unpack } from '../../proto/any.js'
import { codec } from '../../proto/codec.js'
import type { Qualifier } from '../../proto/generated/build.bazel.remote.asset.v1.js'
import type { ActionResult, ActionResultInput } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { timestampOf, toMs } from '../../proto/time.js'
import { Digest } from '../../reapi/digest.js'
import { type DigestFunction, digestFunctions } from '../../reapi/digest-function.js'
import type { Call } from '../../rpc/call.js'
import { getBytes, putBytes, type Store } from '../../store/contract/store.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const assetCodec = codec('remexec.asset.v1.Asset')

export type AssetKind = 'blob' | 'directory'
/** What a record is about: `download` is what an origin has answered. */
export type RecordKind = AssetKind | 'download'

/** What is known of an asset. */
export interface AssetRecord {
  readonly kind: AssetKind
  /** Of a blob, or of a root Directory. */
  readonly digest: Digest
  readonly uri: string
  /** Those that identify the content. */
  readonly qualifiers: readonly Qualifier[]
  /** When the content was that of the URI. */
  readonly validAtMs: number
  /** Undefined: never. */
  readonly expiresAtMs: number | undefined
  readonly etag: string
  /** Content that the asset refers to. The asset is there only while all of it is. */
  readonly blobs: readonly Digest[]
  readonly directories: readonly Digest[]
}

const MAX_RECORD_BYTES = 64 * 1024 * 1024

/**
 * Assets by key, in an action cache: a record is an ActionResult whose outputs are the asset and all that it refers to, so that the
 * rules of results hold for it. `store` returns only complete results, and finding one counts as a use of its outputs.
 */
export class AssetRecords {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Undefined if there is no record, or if content of it is no longer in the CAS. */
  async get(key: Digest, digestFunction: DigestFunction, call: Call): Promise<AssetRecord | undefined> {
    try {
      return recordOf(resultCodec.decode(await getBytes(this.#store, key, MAX_RECORD_BYTES, call)), digestFunction)
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND')) return undefined
      throw error
    }
  }

  put(key: Digest, record: AssetRecord, call: Call): Promise<void> {
    return putBytes(this.#store, key, resultCodec.encode(resultOf(record)), call)
  }
}

/** The record of a URI with these qualifiers, which are in the order of their names. */
export const keyOfUri = (
  kind: RecordKind,
  uri: string,
  qualifiers: readonly Qualifier[],
  digestFunction: DigestFunction,
): Digest => keyOf([kind, digestFunction.name, uri, ...qualifiers.flatMap(({ name, value }) => [name, value])])

/** The record of a blob whose content was checked, by its checksum. */
export const keyOfChecksum = (algorithm: string, hash: string, digestFunction: DigestFunction): Digest =>
  keyOf(['checksum', digestFunction.name, algorithm, hash])

const keyOf = (parts: readonly string[]): Digest =>
  Digest.of(Buffer.from(JSON.stringify(['remote asset', ...parts])), digestFunctions.SHA256).asKey()

const ASSET = 'asset'

/** The ActionResult of a record, whose digests `firstMissing` can check. */
export const resultOf = (record: AssetRecord): ActionResultInput => {
  const { kind, digest, uri, qualifiers, validAtMs, expiresAtMs, etag } = record
  const asset = {
    ...{ uri, qualifiers: [...qualifiers], validAt: timestampOf(validAtMs), etag },
    expiresAt: expiresAtMs === undefined ? null : timestampOf(expiresAtMs),
  }
  const files = kind === 'blob' ? [{ path: ASSET, digest: digest.toMessage() }] : []
  const directories = kind === 'directory' ? [{ path: ASSET, rootDirectoryDigest: digest.toMessage() }] : []
  return {
    outputFiles: [
      ...files,
      ...record.blobs.map((blob, index) => ({ path: `blobs/${index}`, digest: blob.toMessage() })),
    ],
    outputDirectories: [
      ...directories,
      ...record.directories.map((root, index) => ({
        path: `directories/${index}`,
        rootDirectoryDigest: root.toMessage(),
      })),
    ],
    executionMetadata: { auxiliaryMetadata: [pack(assetCodec, asset)] },
  }
}

/** Undefined for a result that is no record. */
const recordOf = (result: ActionResult, digestFunction: DigestFunction): AssetRecord | undefined => {
  const packed = result.executionMetadata?.auxiliaryMetadata.find((any) => holds(any, assetCodec))
  if (packed === undefined) return undefined
  const { uri, qualifiers, validAt, expiresAt, etag } = unpack(assetCodec, packed)
  const file = result.outputFiles.find(({ path }) => path === ASSET)
  const directory = result.outputDirectories.find(({ path }) => path === ASSET)
  const message = file?.digest ?? directory?.rootDirectoryDigest
  const others = <T extends { readonly path: string }>(outputs: readonly T[]) =>
    outputs.filter(({ path }) => path !== ASSET)
  return {
    kind: file === undefined ? 'directory' : 'blob',
    digest: Digest.parse(message, digestFunction, 'the digest of a stored asset'),
    ...{ uri, qualifiers, etag },
    validAtMs: validAt === null ? 0 : toMs(validAt),
    expiresAtMs: expiresAt === null ? undefined : toMs(expiresAt),
    blobs: others(result.outputFiles).map(({ digest }) => Digest.parse(digest, digestFunction)),
    directories: others(result.outputDirectories).map(({ rootDirectoryDigest }) =>
      Digest.parse(rootDirectoryDigest, digestFunction),
    ),
  }
}
