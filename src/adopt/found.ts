import type { DigestFunctionName } from '../reapi/digest-function.js'

/** How the bytes of a blob are kept in a file: as they are, or behind the header of a casblob, perhaps compressed. */
export type FileForm = 'plain' | 'casblob'

/** A file of another cache. Names are all that is known of it; nothing was read. */
export interface FoundFile {
  readonly path: string
  readonly form: FileForm
  readonly hash: string
  /** Undefined if the name does not have it. */
  readonly sizeBytes: number | undefined
  /** Bytes of the file. */
  readonly fileBytes: number
  /** When it was last read or written, in milliseconds since the epoch. */
  readonly usedMs: number
  /** Undefined if the cache does not tell it. */
  readonly digestFunction: DigestFunctionName | undefined
}

export type FileKind = 'blobs' | 'results'

/** Called for each file or folder that cannot be looked at. The listing goes on without it. */
export type OnUnreadable = (path: string, reason: string) => void

/** The folder layout of another cache. */
export interface Layout {
  /** The value of `--from`. */
  readonly name: string
  /** Whether one folder has both blobs and results. */
  readonly holdsResults: boolean
  /** Whether a folder with these entries has this layout. */
  recognises(names: readonly string[]): boolean
  /** Every blob of the folder, or every action result. Files with other names are skipped. */
  files(folder: string, kind: FileKind, onUnreadable: OnUnreadable): AsyncIterable<FoundFile>
}
