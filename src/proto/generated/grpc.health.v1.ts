// Written by `npm run generate` from protos/. Do not edit.

export interface HealthCheckRequest {
  service: string
}

export interface HealthCheckRequestInput {
  service?: string | undefined
}

export interface HealthCheckResponse {
  status: number
}

export interface HealthCheckResponseInput {
  status?: number | undefined
}

export const HealthCheckResponseServingStatus = {
  UNKNOWN: 0,
  SERVING: 1,
  NOT_SERVING: 2,
  SERVICE_UNKNOWN: 3,
} as const

export interface HealthListRequest {
}

export interface HealthListRequestInput {
}

export interface HealthListResponse {
  statuses: Record<string, HealthCheckResponse>
}

export interface HealthListResponseInput {
  statuses?: Readonly<Record<string, HealthCheckResponseInput>> | undefined
}
