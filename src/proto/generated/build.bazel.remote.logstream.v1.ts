// Written by `npm run generate` from protos/. Do not edit.

export interface CreateLogStreamRequest {
  parent: string
}

export interface CreateLogStreamRequestInput {
  parent?: string | undefined
}

export interface LogStream {
  name: string
  writeResourceName: string
}

export interface LogStreamInput {
  name?: string | undefined
  writeResourceName?: string | undefined
}
