// Written by `npm run generate` from protos/. Do not edit.
import type * as build_bazel_remote_execution_v2 from './build.bazel.remote.execution.v2.js'

export interface Record {
  blobs: build_bazel_remote_execution_v2.Digest[]
  rootDirectories: build_bazel_remote_execution_v2.Digest[]
  digestFunction: number
  content: Buffer
  details: Buffer
  trees: build_bazel_remote_execution_v2.Digest[]
}

export interface RecordInput {
  blobs?: readonly build_bazel_remote_execution_v2.DigestInput[] | undefined
  rootDirectories?: readonly build_bazel_remote_execution_v2.DigestInput[] | undefined
  digestFunction?: number | undefined
  content?: Uint8Array | undefined
  details?: Uint8Array | undefined
  trees?: readonly build_bazel_remote_execution_v2.DigestInput[] | undefined
}

export interface ScopedDetails {
  scope: string
}

export interface ScopedDetailsInput {
  scope?: string | undefined
}

export interface RevokedWriters {
  writers: RevokedWriter[]
}

export interface RevokedWritersInput {
  writers?: readonly RevokedWriterInput[] | undefined
}

export interface RevokedWriter {
  identity: string
  untilMs: number
}

export interface RevokedWriterInput {
  identity?: string | undefined
  untilMs?: number | undefined
}

export interface ScopeState {
  generation: Buffer
  usedMs: number
  sizeBytes: number
}

export interface ScopeStateInput {
  generation?: Uint8Array | undefined
  usedMs?: number | undefined
  sizeBytes?: number | undefined
}

export interface SealedRecord {
  record: Buffer
  seal: Buffer
}

export interface SealedRecordInput {
  record?: Uint8Array | undefined
  seal?: Uint8Array | undefined
}
