// Written by `npm run generate` from protos/. Do not edit.
import type * as build_bazel_remote_asset_v1 from './build.bazel.remote.asset.v1.js'
import type * as build_bazel_remote_execution_v2 from './build.bazel.remote.execution.v2.js'
import type * as google_protobuf from './google.protobuf.js'

export interface Asset {
  uri: string
  qualifiers: build_bazel_remote_asset_v1.Qualifier[]
  validAt: google_protobuf.Timestamp | null
  expiresAt: google_protobuf.Timestamp | null
  etag: string
  digest: build_bazel_remote_execution_v2.Digest | null
  isDirectory: boolean
  identity: string
}

export interface AssetInput {
  uri?: string | undefined
  qualifiers?: readonly build_bazel_remote_asset_v1.QualifierInput[] | undefined
  validAt?: google_protobuf.TimestampInput | null | undefined
  expiresAt?: google_protobuf.TimestampInput | null | undefined
  etag?: string | undefined
  digest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  isDirectory?: boolean | undefined
  identity?: string | undefined
}
