// Written by `npm run generate` from protos/. Do not edit.
import type * as google_protobuf from './google.protobuf.js'

export interface Status {
  code: number
  message: string
  details: google_protobuf.Any[]
}

export interface StatusInput {
  code?: number | undefined
  message?: string | undefined
  details?: readonly google_protobuf.AnyInput[] | undefined
}

export const Code = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const

export interface BadRequest {
  fieldViolations: BadRequestFieldViolation[]
}

export interface BadRequestInput {
  fieldViolations?: readonly BadRequestFieldViolationInput[] | undefined
}

export interface BadRequestFieldViolation {
  field: string
  description: string
  reason: string
  localizedMessage: LocalizedMessage | null
}

export interface BadRequestFieldViolationInput {
  field?: string | undefined
  description?: string | undefined
  reason?: string | undefined
  localizedMessage?: LocalizedMessageInput | null | undefined
}

export interface DebugInfo {
  stackEntries: string[]
  detail: string
}

export interface DebugInfoInput {
  stackEntries?: readonly string[] | undefined
  detail?: string | undefined
}

export interface ErrorInfo {
  reason: string
  domain: string
  metadata: Record<string, string>
}

export interface ErrorInfoInput {
  reason?: string | undefined
  domain?: string | undefined
  metadata?: Readonly<Record<string, string>> | undefined
}

export interface Help {
  links: HelpLink[]
}

export interface HelpInput {
  links?: readonly HelpLinkInput[] | undefined
}

export interface HelpLink {
  description: string
  url: string
}

export interface HelpLinkInput {
  description?: string | undefined
  url?: string | undefined
}

export interface LocalizedMessage {
  locale: string
  message: string
}

export interface LocalizedMessageInput {
  locale?: string | undefined
  message?: string | undefined
}

export interface PreconditionFailure {
  violations: PreconditionFailureViolation[]
}

export interface PreconditionFailureInput {
  violations?: readonly PreconditionFailureViolationInput[] | undefined
}

export interface PreconditionFailureViolation {
  type: string
  subject: string
  description: string
}

export interface PreconditionFailureViolationInput {
  type?: string | undefined
  subject?: string | undefined
  description?: string | undefined
}

export interface QuotaFailure {
  violations: QuotaFailureViolation[]
}

export interface QuotaFailureInput {
  violations?: readonly QuotaFailureViolationInput[] | undefined
}

export interface QuotaFailureViolation {
  subject: string
  description: string
  apiService: string
  quotaMetric: string
  quotaId: string
  quotaDimensions: Record<string, string>
  quotaValue: number
  futureQuotaValue: number | null
}

export interface QuotaFailureViolationInput {
  subject?: string | undefined
  description?: string | undefined
  apiService?: string | undefined
  quotaMetric?: string | undefined
  quotaId?: string | undefined
  quotaDimensions?: Readonly<Record<string, string>> | undefined
  quotaValue?: number | undefined
  futureQuotaValue?: number | null | undefined
}

export interface RequestInfo {
  requestId: string
  servingData: string
}

export interface RequestInfoInput {
  requestId?: string | undefined
  servingData?: string | undefined
}

export interface ResourceInfo {
  resourceType: string
  resourceName: string
  owner: string
  description: string
}

export interface ResourceInfoInput {
  resourceType?: string | undefined
  resourceName?: string | undefined
  owner?: string | undefined
  description?: string | undefined
}

export interface RetryInfo {
  retryDelay: google_protobuf.Duration | null
}

export interface RetryInfoInput {
  retryDelay?: google_protobuf.DurationInput | null | undefined
}
