import { Readable, Transform } from 'node:stream'
import type { Call } from '../../src/base/call.js'
import { ManualClock } from '../../src/base/clock.js'
import type { HealthStatus } from '../../src/base/health.js'
import { silentLog } from '../../src/base/log.js'
import { Resources } from '../../src/base/resources.js'
import { type CodeName, StatusError } from '../../src/base/status-error.js'
import type { Digest } from '../../src/reapi/digest.js'
import type { Store } from '../../src/store/store.js'
import { verify } from '../../src/store/verify.js'
import type { Range, ReadPath, WritePath } from '../../src/stream/path.js'

/** A store that fails where a test says, and counts what it is asked. */
export class FaultyStore implements Store {
  /** Fails the first byte of every upload. */
  failWrites: CodeName | undefined
  /** Fails every question and download. */
  failReads: CodeName | undefined
  /** Breaks downloads after so many bytes; with 'end' they end there as if that were all. */
  breakReads: { readonly afterBytes: number; readonly how: 'fail' | 'end' | 'flip' } | undefined
  /** Uploads stand still until this is resolved. */
  writeGate: Promise<void> | undefined
  readonly questions: (readonly Digest[])[] = []
  openUploads = 0
  readonly #backend: Store

  constructor(backend: Store) {
    this.#backend = backend
  }

  async findMissing(digests: readonly Digest[], call: Call): Promise<Digest[]> {
    this.questions.push(digests)
    if (this.failReads !== undefined) throw new StatusError(this.failReads, 'a fault of the test')
    return this.#backend.findMissing(digests, call)
  }

  async reader(digest: Digest, range: Range, call: Call): Promise<ReadPath> {
    if (this.failReads !== undefined) throw new StatusError(this.failReads, 'a fault of the test')
    const path = await this.#backend.reader(digest, range, call)
    return this.breakReads === undefined ? path : [...path, breaking(this.breakReads)]
  }

  async writer(digest: Digest, call: Call): Promise<WritePath> {
    const code = this.failWrites
    const gate = this.writeGate
    const path = await this.#backend.writer(digest, call)
    this.openUploads += 1
    const stage = new Transform({
      transform: (chunk, _encoding, callback) => {
        if (code !== undefined) callback(new StatusError(code, 'a fault of the test'))
        else if (gate === undefined) callback(null, chunk)
        else gate.then(() => callback(null, chunk))
      },
    })
    stage.once('close', () => {
      this.openUploads -= 1
    })
    return [stage, ...path]
  }

  remove(digest: Digest, call: Call): Promise<void> {
    return this.#backend.remove(digest, call)
  }

  health(call: Call): Promise<HealthStatus> {
    return this.#backend.health(call)
  }
}

const breaking = ({ afterBytes, how }: { afterBytes: number; how: 'fail' | 'end' | 'flip' }): Transform => {
  let passed = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      const left = Math.max(0, afterBytes - passed)
      passed += chunk.length
      if (passed <= afterBytes) callback(null, chunk)
      else if (how === 'fail') callback(new StatusError('UNAVAILABLE', 'a fault of the test'))
      else if (how === 'end') callback(null, chunk.subarray(0, left))
      else callback(null, Buffer.concat([chunk.subarray(0, left), Buffer.from('!'), chunk.subarray(left + 1)]))
    },
  })
}

/** `backend` behind a verify store, which checks what comes out of it. */
export const verified = async (backend: Store): Promise<Store> => {
  const named = (): never => {
    throw new Error('nothing is named here')
  }
  const parts = { path: 'test', resources: new Resources(silentLog), clock: new ManualClock(), log: silentLog }
  const options = { verify_size: true, verify_hash: true, backend: { kind: 'noop', options: {} } } as const
  return verify.build(options, { ...parts, child: async () => backend, named })
}

/** Bytes as a stream, in chunks as large as a test wants them. */
export const inChunks = (bytes: Buffer, chunkBytes: number): Readable => {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes))
  return Readable.from(chunks, { objectMode: false })
}
