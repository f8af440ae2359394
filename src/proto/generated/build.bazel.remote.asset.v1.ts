// Written by `npm run generate` from protos/. Do not edit.
import type * as build_bazel_remote_execution_v2 from './build.bazel.remote.execution.v2.js'
import type * as google_protobuf from './google.protobuf.js'
import type * as google_rpc from './google.rpc.js'

export interface FetchBlobRequest {
  instanceName: string
  timeout: google_protobuf.Duration | null
  oldestContentAccepted: google_protobuf.Timestamp | null
  uris: string[]
  qualifiers: Qualifier[]
  digestFunction: number
}

export interface FetchBlobRequestInput {
  instanceName?: string | undefined
  timeout?: google_protobuf.DurationInput | null | undefined
  oldestContentAccepted?: google_protobuf.TimestampInput | null | undefined
  uris?: readonly string[] | undefined
  qualifiers?: readonly QualifierInput[] | undefined
  digestFunction?: number | undefined
}

export interface FetchBlobResponse {
  status: google_rpc.Status | null
  uri: string
  qualifiers: Qualifier[]
  expiresAt: google_protobuf.Timestamp | null
  blobDigest: build_bazel_remote_execution_v2.Digest | null
  digestFunction: number
}

export interface FetchBlobResponseInput {
  status?: google_rpc.StatusInput | null | undefined
  uri?: string | undefined
  qualifiers?: readonly QualifierInput[] | undefined
  expiresAt?: google_protobuf.TimestampInput | null | undefined
  blobDigest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  digestFunction?: number | undefined
}

export interface FetchDirectoryRequest {
  instanceName: string
  timeout: google_protobuf.Duration | null
  oldestContentAccepted: google_protobuf.Timestamp | null
  uris: string[]
  qualifiers: Qualifier[]
  digestFunction: number
}

export interface FetchDirectoryRequestInput {
  instanceName?: string | undefined
  timeout?: google_protobuf.DurationInput | null | undefined
  oldestContentAccepted?: google_protobuf.TimestampInput | null | undefined
  uris?: readonly string[] | undefined
  qualifiers?: readonly QualifierInput[] | undefined
  digestFunction?: number | undefined
}

export interface FetchDirectoryResponse {
  status: google_rpc.Status | null
  uri: string
  qualifiers: Qualifier[]
  expiresAt: google_protobuf.Timestamp | null
  rootDirectoryDigest: build_bazel_remote_execution_v2.Digest | null
  digestFunction: number
}

export interface FetchDirectoryResponseInput {
  status?: google_rpc.StatusInput | null | undefined
  uri?: string | undefined
  qualifiers?: readonly QualifierInput[] | undefined
  expiresAt?: google_protobuf.TimestampInput | null | undefined
  rootDirectoryDigest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  digestFunction?: number | undefined
}

export interface PushBlobRequest {
  instanceName: string
  uris: string[]
  qualifiers: Qualifier[]
  expireAt: google_protobuf.Timestamp | null
  blobDigest: build_bazel_remote_execution_v2.Digest | null
  referencesBlobs: build_bazel_remote_execution_v2.Digest[]
  referencesDirectories: build_bazel_remote_execution_v2.Digest[]
  digestFunction: number
}

export interface PushBlobRequestInput {
  instanceName?: string | undefined
  uris?: readonly string[] | undefined
  qualifiers?: readonly QualifierInput[] | undefined
  expireAt?: google_protobuf.TimestampInput | null | undefined
  blobDigest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  referencesBlobs?: readonly build_bazel_remote_execution_v2.DigestInput[] | undefined
  referencesDirectories?: readonly build_bazel_remote_execution_v2.DigestInput[] | undefined
  digestFunction?: number | undefined
}

export interface PushBlobResponse {
}

export interface PushBlobResponseInput {
}

export interface PushDirectoryRequest {
  instanceName: string
  uris: string[]
  qualifiers: Qualifier[]
  expireAt: google_protobuf.Timestamp | null
  rootDirectoryDigest: build_bazel_remote_execution_v2.Digest | null
  referencesBlobs: build_bazel_remote_execution_v2.Digest[]
  referencesDirectories: build_bazel_remote_execution_v2.Digest[]
  digestFunction: number
}

export interface PushDirectoryRequestInput {
  instanceName?: string | undefined
  uris?: readonly string[] | undefined
  qualifiers?: readonly QualifierInput[] | undefined
  expireAt?: google_protobuf.TimestampInput | null | undefined
  rootDirectoryDigest?: build_bazel_remote_execution_v2.DigestInput | null | undefined
  referencesBlobs?: readonly build_bazel_remote_execution_v2.DigestInput[] | undefined
  referencesDirectories?: readonly build_bazel_remote_execution_v2.DigestInput[] | undefined
  digestFunction?: number | undefined
}

export interface PushDirectoryResponse {
}

export interface PushDirectoryResponseInput {
}

export interface Qualifier {
  name: string
  value: string
}

export interface QualifierInput {
  name?: string | undefined
  value?: string | undefined
}
