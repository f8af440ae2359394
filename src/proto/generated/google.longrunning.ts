// Written by `npm run generate` from protos/. Do not edit.
import type * as google_protobuf from './google.protobuf.js'
import type * as google_rpc from './google.rpc.js'

export interface CancelOperationRequest {
  name: string
}

export interface CancelOperationRequestInput {
  name?: string | undefined
}

export interface DeleteOperationRequest {
  name: string
}

export interface DeleteOperationRequestInput {
  name?: string | undefined
}

export interface GetOperationRequest {
  name: string
}

export interface GetOperationRequestInput {
  name?: string | undefined
}

export interface ListOperationsRequest {
  filter: string
  pageSize: number
  pageToken: string
  name: string
  returnPartialSuccess: boolean
}

export interface ListOperationsRequestInput {
  filter?: string | undefined
  pageSize?: number | undefined
  pageToken?: string | undefined
  name?: string | undefined
  returnPartialSuccess?: boolean | undefined
}

export interface ListOperationsResponse {
  operations: Operation[]
  nextPageToken: string
  unreachable: string[]
}

export interface ListOperationsResponseInput {
  operations?: readonly OperationInput[] | undefined
  nextPageToken?: string | undefined
  unreachable?: readonly string[] | undefined
}

export interface Operation {
  name: string
  metadata: google_protobuf.Any | null
  done: boolean
  error: google_rpc.Status | null
  response: google_protobuf.Any | null
  /** Which one is set. */
  readonly result: 'error' | 'response' | undefined
}

export interface OperationInput {
  name?: string | undefined
  metadata?: google_protobuf.AnyInput | null | undefined
  done?: boolean | undefined
  error?: google_rpc.StatusInput | null | undefined
  response?: google_protobuf.AnyInput | null | undefined
}

export interface OperationInfo {
  responseType: string
  metadataType: string
}

export interface OperationInfoInput {
  responseType?: string | undefined
  metadataType?: string | undefined
}

export interface WaitOperationRequest {
  name: string
  timeout: google_protobuf.Duration | null
}

export interface WaitOperationRequestInput {
  name?: string | undefined
  timeout?: google_protobuf.DurationInput | null | undefined
}
