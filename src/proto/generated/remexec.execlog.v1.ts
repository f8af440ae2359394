// Written by `npm run generate` from protos/. Do not edit.

export interface Entry {
  id: number
  invocation: Invocation | null
  file: File | null
  directory: Directory | null
  symlink: Symlink | null
  inputSet: InputSet | null
  spawn: Spawn | null
  /** Which one is set. */
  readonly type: 'invocation' | 'file' | 'directory' | 'symlink' | 'inputSet' | 'spawn' | undefined
}

export interface EntryInput {
  id?: number | undefined
  invocation?: InvocationInput | null | undefined
  file?: FileInput | null | undefined
  directory?: DirectoryInput | null | undefined
  symlink?: SymlinkInput | null | undefined
  inputSet?: InputSetInput | null | undefined
  spawn?: SpawnInput | null | undefined
}

export interface Invocation {
  hashFunctionName: string
}

export interface InvocationInput {
  hashFunctionName?: string | undefined
}

export interface Digest {
  hash: string
  sizeBytes: number
}

export interface DigestInput {
  hash?: string | undefined
  sizeBytes?: number | undefined
}

export interface File {
  path: string
  digest: Digest | null
}

export interface FileInput {
  path?: string | undefined
  digest?: DigestInput | null | undefined
}

export interface Directory {
  path: string
  files: File[]
}

export interface DirectoryInput {
  path?: string | undefined
  files?: readonly FileInput[] | undefined
}

export interface Symlink {
  path: string
  targetPath: string
}

export interface SymlinkInput {
  path?: string | undefined
  targetPath?: string | undefined
}

export interface InputSet {
  fileIds: number[]
  directoryIds: number[]
  symlinkIds: number[]
  transitiveSetIds: number[]
  inputIds: number[]
}

export interface InputSetInput {
  fileIds?: readonly number[] | undefined
  directoryIds?: readonly number[] | undefined
  symlinkIds?: readonly number[] | undefined
  transitiveSetIds?: readonly number[] | undefined
  inputIds?: readonly number[] | undefined
}

export interface Spawn {
  inputSetId: number
  digest: Digest | null
}

export interface SpawnInput {
  inputSetId?: number | undefined
  digest?: DigestInput | null | undefined
}
