import { codec } from '../../proto/codec.js'
import { Fields } from '../../proto/fields.js'
import type { OutputGroup } from '../../proto/generated/build_event_stream.js'
import type { EncodedPayload } from '../stored-event.js'
import { clipped, MAX_LABEL } from './clipped.js'
import { type FileRef, fileRef } from './file-ref.js'

/** A file that a target made. */
export interface Artifact {
  readonly target: string
  /** The name of its output group; empty or `default` for the usual one. */
  readonly group: string
  readonly file: FileRef
}

/** The outputs of targets. Targets share sets, so files of a target are looked up when somebody looks at it. */
export interface Artifacts {
  /** Files that the sets name, each set counted once. */
  readonly fileCount: number
  /** Files and sets beyond the bounds. */
  readonly leftOut: number
  /** Whether any target has some. */
  readonly isEmpty: boolean
  /** The files of the targets whose label the filter takes, in the order of the events; yields undefined between parts of the work. */
  readonly of: (isWanted: (label: string) => boolean) => Generator<Artifact | undefined, void, undefined>
}

/** Field numbers of build_event_stream.NamedSetOfFiles. */
const FILES = 1
const FILE_SETS = 2

const MAX_FILES = 50_000
const MAX_SETS = 50_000
/** References between sets, and of groups to sets. */
const MAX_REFERENCES = 200_000
const MAX_GROUPS = 50_000
const MAX_ID = 100
/** Of a set; further ones are counted. */
const MAX_FIELDS = 1_000_000
/** Longer ones say nothing that a page shows. */
const MAX_FILE_BYTES = 8 * 1024
/** Between two turns. */
const AT_ONCE = 200

const files = codec('build_event_stream.File')
const ids = codec('build_event_stream.BuildEventId')
const setIds = codec('build_event_stream.NamedSetId')

interface FileSet {
  readonly files: FileRef[]
  readonly sets: string[]
}

interface Group extends FileSet {
  readonly target: string
  readonly name: string
}

/** Reads sets of files and the output groups of targets that name them. */
export class ArtifactReader {
  readonly #sets = new Map<string, FileSet>()
  readonly #groups: Group[] = []
  #fileCount = 0
  #referenceCount = 0
  #leftOut = 0

  get artifacts(): Artifacts {
    return {
      fileCount: this.#fileCount,
      leftOut: this.#leftOut,
      isEmpty: this.#groups.length === 0,
      of: (isWanted) => this.#of(isWanted),
    }
  }

  /** Yields between parts of the work: an event may name a million files. */
  *takeSet({ id, payload }: EncodedPayload): Generator<void, void, undefined> {
    const name = id.length > MAX_FILE_BYTES ? undefined : ids.decode(id).namedSet?.id
    if (name === undefined || name.length > MAX_ID || this.#sets.size >= MAX_SETS) {
      this.#leftOut += 1
      return
    }
    const set: FileSet = { files: [], sets: [] }
    this.#sets.set(name, set)
    const fields = new Fields(payload, 'build_event_stream.NamedSetOfFiles', 0, payload.length, MAX_FIELDS)
    for (let count = 1; fields.next(); count++) {
      const value = payload.subarray(fields.from, fields.to)
      if (fields.number === FILES) this.#file(set, value)
      if (fields.number === FILE_SETS && value.length <= MAX_ID * 4) this.#reference(set, setIds.decode(value).id)
      if (count % AT_ONCE === 0) yield
    }
  }

  takeTarget(label: string, groups: readonly OutputGroup[]): void {
    for (const { name, fileSets, inlineFiles } of groups) {
      if (fileSets.length + inlineFiles.length === 0) continue
      if (this.#groups.length >= MAX_GROUPS) {
        this.#leftOut += 1
        continue
      }
      const group = { target: clipped(label, MAX_LABEL), name: clipped(name, MAX_LABEL), files: [], sets: [] }
      this.#groups.push(group)
      for (const file of inlineFiles) this.#keep(group, fileRef(file))
      for (const { id } of fileSets) this.#reference(group, id)
    }
  }

  #file(set: FileSet, encoded: Buffer): void {
    if (encoded.length > MAX_FILE_BYTES) this.#leftOut += 1
    else this.#keep(set, fileRef(files.decode(encoded)))
  }

  #keep(set: FileSet, file: FileRef): void {
    if (this.#fileCount >= MAX_FILES) {
      this.#leftOut += 1
      return
    }
    this.#fileCount += 1
    set.files.push({ ...file, text: undefined })
  }

  #reference(set: FileSet, id: string): void {
    if (this.#referenceCount >= MAX_REFERENCES || id.length > MAX_ID) {
      this.#leftOut += 1
      return
    }
    this.#referenceCount += 1
    set.sets.push(id)
  }

  *#of(isWanted: (label: string) => boolean): Generator<Artifact | undefined, void, undefined> {
    for (const { target, name: group, files: inline, sets } of this.#groups) {
      yield undefined
      if (!isWanted(target)) continue
      for (const file of inline) yield { target, group, file }
      // Sets may name each other in a circle.
      const seen = new Set(sets)
      for (const id of seen) {
        const set = this.#sets.get(id)
        for (const file of set?.files ?? []) yield { target, group, file }
        for (const inner of set?.sets ?? []) seen.add(inner)
        yield undefined
      }
    }
  }
}
