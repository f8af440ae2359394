import { Readable, Transform } from 'node:stream'
import { ManualClock } from '../../src/base/clock.js'
import { type CodeName, StatusError } from '../../src/base/status-error.js'
import { ForwardingStore } from '../../src/blobs/forwarding.js'
import type { Store } from '../../src/blobs/store.js'
import { silentLog } from '../../src/log/log.js'
import { unhiddenSecrets } from '../../src/log/secrets.js'
import type { Digest } from '../../src/reapi/digest.js'
import type { DigestBatch } from '../../src/reapi/digest-batch.js'
import type { Call } from '../../src/rpc/call.js'
import { Invocations } from '../../src/rpc/invocations.js'
import { UploadOrder } from '../../src/store/contract/upload-order.js'
import { verify } from '../../src/store/kinds/verify/kind.js'
import type { Blob } from '../../src/stream/blob/blob.js'
import type { Range } from '../../src/stream/path.js'
import { Resources } from '../../src/work/resources.js'

/** A store whose failures a test controls. Records its findMissing requests. */
export class FaultyStore extends ForwardingStore {
  /** Fails the first byte of every upload. */
  failWrites: CodeName | undefined
  /** Fails every findMissing and download. */
  failReads: CodeName | undefined
  /** Breaks downloads after `afterBytes`: 'end' ends them there without an error. */
  breakReads: { readonly afterBytes: number; readonly how: 'fail' | 'end' | 'flip' } | undefined
  /** Uploads wait until this is resolved. */
  writeGate: Promise<void> | undefined
  readonly questions: (readonly Digest[])[] = []
  openUploads = 0

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    this.questions.push(digests.digests())
    if (this.failReads !== undefined) throw new StatusError(this.failReads, 'a fault of the test')
    return super.findMissing(digests, call)
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    if (this.failReads !== undefined) throw new StatusError(this.failReads, 'a fault of the test')
    return super.get(digest, range, call)
  }

  protected override outgoing(blob: Blob): Blob {
    const how = this.breakReads
    return how === undefined ? blob : blob.through({ windowBytes: 0, stream: () => breaking(how) })
  }

  protected override incoming(blob: Blob): Blob {
    const code = this.failWrites
    const gate = this.writeGate
    return blob.through({
      windowBytes: 0,
      stream: () => {
        this.openUploads += 1
        const stage = new Transform({
          transform: (chunk, _encoding, callback) => {
            if (code !== undefined) callback(new StatusError(code, 'a fault of the test'))
            else if (gate === undefined) callback(null, chunk)
            else gate.then(() => callback(null, chunk))
          },
        })
        return stage.once('close', () => {
          this.openUploads -= 1
        })
      },
    })
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
      else callback(null, flipped(chunk, left))
    },
  })
}

/** A copy of `chunk` whose byte at `index` is another one, whatever it was. */
const flipped = (chunk: Buffer, index: number): Buffer => {
  const copy = Buffer.from(chunk)
  copy[index] = ~(copy[index] as number)
  return copy
}

/** `backend` behind a verify store, which checks all downloads. */
export const verified = async (backend: Store): Promise<Store> => {
  const named = (): never => {
    throw new Error('nothing is named here')
  }
  const parts = {
    path: 'test',
    resources: new Resources(silentLog),
    clock: new ManualClock(),
    log: silentLog,
    secrets: unhiddenSecrets,
    step: () => {},
    queues: () => {},
    cuts: () => {},
    uploadOrder: new UploadOrder(),
    keepsPromises: true,
    invocations: new Invocations(new ManualClock()),
  }
  const options = { verify_size: true, verify_hash: true, backend: { kind: 'noop', options: {} } } as const
  return verify.build(options, { ...parts, child: async () => backend, named, watch: () => {}, holds: () => {} })
}

/** A stream of `bytes` in chunks of `chunkBytes`. */
export const inChunks = (bytes: Buffer, chunkBytes: number): Readable => {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes))
  return Readable.from(chunks, { objectMode: false })
}
