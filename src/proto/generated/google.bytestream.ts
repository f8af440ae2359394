// Written by `npm run generate` from protos/. Do not edit.

export interface QueryWriteStatusRequest {
  resourceName: string
}

export interface QueryWriteStatusRequestInput {
  resourceName?: string | undefined
}

export interface QueryWriteStatusResponse {
  committedSize: number
  complete: boolean
}

export interface QueryWriteStatusResponseInput {
  committedSize?: number | undefined
  complete?: boolean | undefined
}

export interface ReadRequest {
  resourceName: string
  readOffset: number
  readLimit: number
}

export interface ReadRequestInput {
  resourceName?: string | undefined
  readOffset?: number | undefined
  readLimit?: number | undefined
}

export interface ReadResponse {
  data: Buffer
}

export interface ReadResponseInput {
  data?: Uint8Array | undefined
}

export interface WriteRequest {
  resourceName: string
  writeOffset: number
  finishWrite: boolean
  data: Buffer
}

export interface WriteRequestInput {
  resourceName?: string | undefined
  writeOffset?: number | undefined
  finishWrite?: boolean | undefined
  data?: Uint8Array | undefined
}

export interface WriteResponse {
  committedSize: number
}

export interface WriteResponseInput {
  committedSize?: number | undefined
}
