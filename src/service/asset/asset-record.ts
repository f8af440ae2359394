import type { Qualifier } from '../../proto/generated/build.bazel.remote.asset.v1.js'
import type { Digest } from '../../reapi/digest.js'

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
  /** Who pushed it; absent for a download. */
  readonly identity?: string | undefined
  /** Content that the asset refers to. The asset is there only while all of it is. */
  readonly blobs: readonly Digest[]
  readonly directories: readonly Digest[]
}
