// Written by `npm run generate` from protos/. Do not edit.

export interface SemVer {
  major: number
  minor: number
  patch: number
  prerelease: string
}

export interface SemVerInput {
  major?: number | undefined
  minor?: number | undefined
  patch?: number | undefined
  prerelease?: string | undefined
}
