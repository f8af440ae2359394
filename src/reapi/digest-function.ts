import { createHash, type Hash, hash as hashAtOnce } from 'node:crypto'
import { createRequire } from 'node:module'
import { StatusError } from '../base/status-error.js'

/** A hash in progress. `digest` ends it and may be called once. */
export interface Hasher {
  /** The length that the hash begins with; undefined if it is of the content alone. */
  readonly sizeBytes?: number
  update(bytes: Uint8Array): void
  /** An independent hasher that continues from the same position. */
  copy(): Hasher
  /** Lower-case hex. */
  digest(): string
}

export type DigestFunctionName = 'SHA256' | 'SHA1' | 'MD5' | 'SHA384' | 'SHA512' | 'BLAKE3' | 'GITSHA1'

/**
 * Kinds of keys that the server makes for what it keeps beside blobs and results. A kind takes the place of the digest
 * function in a key, and function, hash and size together are the identity of a digest in every store. No request is
 * resolved to a kind, so no digest of a client, over any protocol, is such a key.
 */
export type KeyKindName = 'HTTP_ENTRY' | 'HASH_SIZE' | 'ASSET' | 'CHUNK_LIST' | 'SCOPED' | 'SCOPE'

export interface DigestFunction {
  readonly name: DigestFunctionName | KeyKindName
  /** DigestFunction.Value in the protocol. Kinds of keys have values that the protocol does not: stores keep eight bits. */
  readonly value: number
  readonly hexLength: number
  /**
   * The resource-name segment, for functions that their hash length does not identify; else undefined. REAPI:
   * only functions added after VSO, MURMUR3 and the SHA family have one.
   */
  readonly segment: string | undefined
  /**
   * `sizeBytes` is the length of the content, undefined if it is not known before the end. Throws INVALID_ARGUMENT if the function
   * needs it.
   */
  createHasher(sizeBytes: number | undefined): Hasher
  hash(bytes: Uint8Array): string
}

const running = (hash: Hash): Hasher => ({
  update: (bytes) => void hash.update(bytes),
  copy: () => running(hash.copy()),
  digest: () => hash.digest('hex'),
})

const native = (
  name: DigestFunction['name'],
  value: number,
  hexLength: number,
  algorithm = name.toLowerCase(),
): DigestFunction => {
  return {
    name,
    value,
    hexLength,
    segment: undefined,
    createHasher: () => running(createHash(algorithm)),
    // Half a microsecond faster than a temporary Hash object: a sixth of the time for 4 KiB.
    hash: (bytes) => hashAtOnce(algorithm, bytes),
  }
}

// The package's main file contains all its algorithms and adds 28 ms to every start; this file adds 3 ms.
const { createBLAKE3 }: Pick<typeof import('hash-wasm'), 'createBLAKE3'> = createRequire(import.meta.url)(
  'hash-wasm/dist/blake3.umd.min.js',
)

// One WebAssembly instance serves all BLAKE3 hashes, because creating one is asynchronous and needs its own
// memory. The few KiB of state are saved and loaded only when two hashes interleave.
const engine = await createBLAKE3()
let loaded: Blake3Hasher | undefined

class Blake3Hasher implements Hasher {
  #saved: Uint8Array | undefined

  update(bytes: Uint8Array): void {
    this.#load()
    engine.update(bytes)
  }

  copy(): Hasher {
    this.#load()
    const copy = new Blake3Hasher()
    copy.#saved = engine.save()
    return copy
  }

  digest(): string {
    this.#load()
    loaded = undefined
    return engine.digest('hex')
  }

  #load(): void {
    if (loaded === this) return
    if (loaded !== undefined) loaded.#saved = engine.save()
    if (this.#saved === undefined) engine.init()
    else engine.load(this.#saved)
    loaded = this
  }
}

const blake3: DigestFunction = {
  name: 'BLAKE3',
  value: 9,
  hexLength: 64,
  segment: 'blake3',
  createHasher: () => new Blake3Hasher(),
  hash: (bytes) => {
    const hasher = new Blake3Hasher()
    hasher.update(bytes)
    return hasher.digest()
  },
}

const gitHeader = (sizeBytes: number): string => `blob ${sizeBytes}\0`

const runningGit = (hash: Hash, sizeBytes: number): Hasher => ({
  sizeBytes,
  update: (bytes) => void hash.update(bytes),
  copy: () => runningGit(hash.copy(), sizeBytes),
  digest: () => hash.digest('hex'),
})

/** The name that git gives to a file: SHA1 of a header with the length, and the content. */
const gitSha1: DigestFunction = {
  name: 'GITSHA1',
  value: 10,
  hexLength: 40,
  segment: 'gitsha1',
  createHasher: (sizeBytes) => {
    if (sizeBytes === undefined) {
      const reason = 'GITSHA1 hashes the length of a blob before its content'
      throw new StatusError('INVALID_ARGUMENT', `${reason}, expected content whose length is known`)
    }
    return runningGit(createHash('sha1').update(gitHeader(sizeBytes)), sizeBytes)
  },
  hash: (bytes) => createHash('sha1').update(gitHeader(bytes.length)).update(bytes).digest('hex'),
}

/** Every function that remexec supports. The configuration selects those that are served. */
export const digestFunctions: Readonly<Record<DigestFunctionName, DigestFunction>> = {
  SHA256: native('SHA256', 1, 64),
  SHA1: native('SHA1', 2, 40),
  MD5: native('MD5', 3, 32),
  SHA384: native('SHA384', 5, 96),
  SHA512: native('SHA512', 6, 128),
  BLAKE3: blake3,
  GITSHA1: gitSha1,
}

/** The kinds of keys. Their hashes are SHA256 of a text that says what the key is of (`Digest.ofOwn`). Values are never used again. */
export const keyKinds: Readonly<Record<KeyKindName, DigestFunction>> = {
  HTTP_ENTRY: native('HTTP_ENTRY', 241, 64, 'sha256'),
  HASH_SIZE: native('HASH_SIZE', 242, 64, 'sha256'),
  ASSET: native('ASSET', 243, 64, 'sha256'),
  CHUNK_LIST: native('CHUNK_LIST', 244, 64, 'sha256'),
  /** What a caller with a scope wrote: a result, or an entry of another kind. */
  SCOPED: native('SCOPED', 245, 64, 'sha256'),
  /** What is known of a scope, and of callers whose results count no more. */
  SCOPE: native('SCOPE', 246, 64, 'sha256'),
}

export const isKeyKind = ({ value }: DigestFunction): boolean => value >= LEAST_KEY_KIND

const LEAST_KEY_KIND = 128

/** By their values: digest functions and kinds of keys, as stores keep them. Never for a value in a request. */
export const functionsByValue: ReadonlyMap<number, DigestFunction> = new Map(
  [...Object.values(digestFunctions), ...Object.values(keyKinds)].map((each) => [each.value, each]),
)

/** The same by their names in lower case. */
export const functionsByName: ReadonlyMap<string, DigestFunction> = new Map(
  [...functionsByValue.values()].map((each) => [each.name.toLowerCase(), each]),
)
