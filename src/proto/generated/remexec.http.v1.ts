// Written by `npm run generate` from protos/. Do not edit.

export interface EntryDetails {
  identity: string
  artifactTag: string
  artifactDuration: string
  artifactSha: string
  artifactDirtyHash: string
  storedMs: number
}

export interface EntryDetailsInput {
  identity?: string | undefined
  artifactTag?: string | undefined
  artifactDuration?: string | undefined
  artifactSha?: string | undefined
  artifactDirtyHash?: string | undefined
  storedMs?: number | undefined
}
