// Written by `npm run generate` from protos/. Do not edit.

export interface Input {
  path: string
  digest: Buffer
}

export interface InputInput {
  path?: string | undefined
  digest?: Uint8Array | undefined
}

export interface WorkRequest {
  arguments: string[]
  inputs: Input[]
  requestId: number
  cancel: boolean
  verbosity: number
  sandboxDir: string
}

export interface WorkRequestInput {
  arguments?: readonly string[] | undefined
  inputs?: readonly InputInput[] | undefined
  requestId?: number | undefined
  cancel?: boolean | undefined
  verbosity?: number | undefined
  sandboxDir?: string | undefined
}

export interface WorkResponse {
  exitCode: number
  output: string
  requestId: number
  wasCancelled: boolean
}

export interface WorkResponseInput {
  exitCode?: number | undefined
  output?: string | undefined
  requestId?: number | undefined
  wasCancelled?: boolean | undefined
}
