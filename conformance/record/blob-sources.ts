import { codec } from '../proto/codec.js'
import { bytesForm, digestText, type Json, toJson } from '../session/json-form.js'
import type { BlobSource } from '../session/session.js'
import type { DecodedCall } from './decoded-call.js'
import type { Harvest } from './harvest.js'

type Role = 'Action' | 'Command' | 'Directory' | 'Tree'
type MaybeDigest = { readonly hash: string; readonly sizeBytes: number } | null

const codecs = {
  Action: codec('build.bazel.remote.execution.v2.Action'),
  Command: codec('build.bazel.remote.execution.v2.Command'),
  Directory: codec('build.bazel.remote.execution.v2.Directory'),
  Tree: codec('build.bazel.remote.execution.v2.Tree'),
}

/** Longer text is kept in a file. */
const INLINE_BYTES = 1_024
/** Text made by the server is kept only if it is short: a replay can compare short text on any machine. */
const EXPECTED_BYTES = 512

export interface Sources {
  readonly blobs: Record<string, BlobSource>
  readonly expected: Record<string, BlobSource>
  /** The files of `blobs/` by name. */
  readonly files: Map<string, Buffer>
}

/** Chooses the form in which each blob of a session is kept. */
export class BlobSources {
  readonly #harvest: Harvest
  readonly #roles = new Map<string, Role>()

  constructor(harvest: Harvest) {
    this.#harvest = harvest
  }

  sourcesOf(calls: readonly DecodedCall[]): Sources {
    for (const { requests, responses } of calls) {
      for (const request of requests) {
        if (request.actionDigest) this.#action(request.actionDigest)
        if (request.actionResult) this.#trees(request.actionResult)
      }
      for (const response of responses) if (response.outputDirectories) this.#trees(response)
    }
    const sources: Sources = { blobs: {}, expected: {}, files: new Map() }
    for (const [digest, bytes] of this.#harvest.uploaded) {
      sources.blobs[digest] = this.#sourceOf(digest, bytes, sources.files)
    }
    for (const [digest, bytes] of this.#harvest.downloaded) {
      const isShown = bytes.length <= EXPECTED_BYTES && 'text' in bytesForm(bytes)
      const isMessage = this.#roles.has(digest)
      if (digest in sources.blobs || !(isShown || isMessage)) continue
      sources.expected[digest] = this.#sourceOf(digest, bytes, sources.files)
    }
    return sources
  }

  #sourceOf(digest: string, bytes: Buffer, files: Map<string, Buffer>): BlobSource {
    const role = this.#roles.get(digest)
    if (role !== undefined) {
      const value = toJson(codecs[role].decode(bytes))
      return { message: role, value: role === 'Command' ? withPlainPath(value) : value }
    }
    const repeated = repeatOf(bytes)
    if (repeated !== undefined) return repeated
    const form = bytesForm(bytes)
    if (bytes.length <= INLINE_BYTES) return form
    const file = `${digest.slice(0, 16)}${'text' in form ? '.txt' : '.bin'}`
    files.set(file, bytes)
    return { file }
  }

  /** A client may use any blob's digest as an action digest, as moon does. */
  #action(digest: MaybeDigest): void {
    const action = this.#read(digest, 'Action')
    if (action === undefined || digest === null) return
    if (action.commandDigest === null || !this.#harvest.uploaded.has(digestText(action.commandDigest))) return
    this.#roles.set(digestText(digest), 'Action')
    this.#roles.set(digestText(action.commandDigest), 'Command')
    if (action.inputRootDigest !== null) this.#directory(action.inputRootDigest)
  }

  #directory(digest: MaybeDigest): void {
    if (digest === null || this.#roles.has(digestText(digest))) return
    const directory = this.#read(digest, 'Directory')
    if (directory === undefined || digest.sizeBytes === 0) return
    this.#roles.set(digestText(digest), 'Directory')
    for (const child of directory.directories) this.#directory(child.digest)
  }

  #trees(result: { readonly outputDirectories: readonly { readonly treeDigest: MaybeDigest }[] }): void {
    for (const { treeDigest } of result.outputDirectories) {
      if (this.#read(treeDigest, 'Tree') !== undefined && treeDigest) this.#roles.set(digestText(treeDigest), 'Tree')
    }
  }

  #read<R extends Role>(digest: MaybeDigest, role: R): ReturnType<(typeof codecs)[R]['decode']> | undefined {
    if (digest === null) return undefined
    const text = digestText(digest)
    const bytes = this.#harvest.uploaded.get(text) ?? this.#harvest.downloaded.get(text)
    if (bytes === undefined) return undefined
    try {
      return codecs[role].decode(bytes) as ReturnType<(typeof codecs)[R]['decode']>
    } catch {
      // The blob is not this message and is kept as bytes.
      return undefined
    }
  }
}

/** Program paths belong to the recording machine; a replay uses the directories that every worker has. */
const PLAIN_PATH = '/usr/local/bin:/usr/bin:/bin'

const withPlainPath = (command: Json): Json => {
  const { environmentVariables = [], ...rest } = command as { readonly [field: string]: Json }
  const variables = (environmentVariables as readonly { readonly [field: string]: Json }[]).map((variable) =>
    variable['name'] === 'PATH' ? { ...variable, value: PLAIN_PATH } : variable,
  )
  return variables.length === 0 ? command : { ...rest, environmentVariables: variables }
}

/** One line or character, repeated. */
const repeatOf = (bytes: Buffer): BlobSource | undefined => {
  if (bytes.length <= INLINE_BYTES) return undefined
  for (const unitBytes of [1, bytes.indexOf(10) + 1]) {
    if (unitBytes === 0 || unitBytes > 256) continue
    const form = bytesForm(bytes.subarray(0, unitBytes))
    if (!('text' in form)) continue
    if (Buffer.alloc(bytes.length, form.text).equals(bytes)) return { repeat: form.text, sizeBytes: bytes.length }
  }
  return undefined
}
