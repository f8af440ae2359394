import { orAbsent } from '../base/status-error.js'
import { getBytes, missingOf, putBytes } from '../blobs/store.js'
import { putUnnamedBlob } from '../content/put-unnamed.js'
import { codec } from '../proto/codec.js'
import { Digest } from '../reapi/digest.js'
import type { Call } from '../rpc/call.js'
import { Blob } from '../stream/blob/blob.js'
import { WHOLE } from '../stream/path.js'
import type { RemoteServer } from './connect.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

const MAX_RESULT_BYTES = 64 * 1024
/** Up to this length a file is part of its entry: one request in place of three. */
const INLINE_BYTES = 4096

export interface RemoteEntry {
  /** What the entry calls its file. */
  readonly name: string
  readonly digest: Digest
  /** Fails before its last byte if it does not match the digest. */
  readonly body: Blob
}

/**
 * Files of a build tool under its own keys, on any server of the API: a file is a blob of the CAS, and its entry an ActionResult that
 * names it. Tools have nothing in common: `tool` is part of each key.
 */
export class RemoteEntries {
  readonly #server: RemoteServer
  readonly #tool: string

  constructor(server: RemoteServer, tool: string) {
    this.#server = server
    this.#tool = tool
  }

  /** Undefined unless entry and file are there. */
  get(key: string, call: Call): Promise<RemoteEntry | undefined> {
    return orAbsent(this.#get(key, call))
  }

  async has(key: string, call: Call): Promise<boolean> {
    const entry = await this.get(key, call)
    entry?.body.discard()
    return entry !== undefined
  }

  /** Stores a file of any length. Its entry is visible when the whole file is stored. */
  async put(key: string, blob: Blob, call: Call): Promise<void> {
    const { cas, target } = this.#server
    const { digestFunction } = target
    const options = { blob, digestFunction, inlineBytes: INLINE_BYTES, maxBytes: Number.POSITIVE_INFINITY }
    const kept = await putUnnamedBlob(cas, options, call)
    await this.#putResult(key, 'inline' in kept ? { stdoutRaw: kept.inline } : resultOf(NAME, kept.digest), call)
  }

  /** Stores a file whose digest is known. `open` is called if the server lacks it. */
  async putFile(key: string, name: string, digest: Digest, open: () => Blob, call: Call): Promise<void> {
    const { cas } = this.#server
    if ((await missingOf(cas, [digest], call)).length > 0) await cas.put(digest, open(), call)
    await this.#putResult(key, resultOf(name, digest), call)
  }

  async #get(key: string, call: Call): Promise<RemoteEntry | undefined> {
    const { cas, actionCache, target } = this.#server
    const { digestFunction } = target
    const bytes = await getBytes(actionCache, this.#digestOf(key), MAX_RESULT_BYTES, call)
    const { outputFiles, stdoutRaw, stdoutDigest } = resultCodec.decode(bytes)
    const [file] = outputFiles
    // A server may move what came inline into its CAS.
    const named = file?.digest ?? stdoutDigest
    if (named === null) {
      const digest = Digest.of(stdoutRaw, digestFunction)
      return { name: NAME, digest, body: Blob.ofBytes(stdoutRaw) }
    }
    const digest = Digest.parse(named, digestFunction)
    const body = (await cas.get(digest, WHOLE, call)).verify(digest, { fault: 'backend' })
    return { name: file?.path ?? NAME, digest, body }
  }

  #putResult(key: string, result: object, call: Call): Promise<void> {
    return putBytes(this.#server.actionCache, this.#digestOf(key), resultCodec.encode(result), call)
  }

  #digestOf(key: string): Digest {
    return Digest.of(Buffer.from(`${this.#tool} ${key}`), this.#server.target.digestFunction).asKey()
  }
}

const NAME = 'body'

const resultOf = (name: string, digest: Digest) => ({ outputFiles: [{ path: name, digest: digest.toMessage() }] })
