import { createReadStream } from 'node:fs'
import { unlink } from 'node:fs/promises'
import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import { missingOf } from '../../blobs/store.js'
import type { Ledger } from '../../ledger/ledger.js'
import { type Call, internalCall, type UploadPart } from '../../rpc/call.js'
import { STAGE_BYTES } from '../../stream/path.js'
import { inBackground } from '../../work/in-background.js'
import type { Windows } from '../windows.js'
import type { GivenPart, KeptParts } from './kept-parts.js'
import type { Upload, UploadTarget } from './upload.js'
import { type Resumable, Uploads } from './uploads.js'

/** The `KeptParts` of the process, asked from a thread. */
export interface AskedParts {
  keep(part: GivenPart): Promise<void>
  sizeOf(name: string): Promise<ReturnType<KeptParts['sizeOf']>>
  take(name: string): Promise<ReturnType<KeptParts['take']>>
}

/** How soon an upload ends whose blob another thread has committed. */
const LOOK_MS = 250

/**
 * The uploads of a service thread. What has arrived of an interrupted one goes to the owner of the process, because the client
 * may come back on a connection of another thread. Who continues it hashes what is there once more: state of a hash cannot be
 * sent.
 */
export class ThreadUploads extends Uploads {
  readonly #parts: AskedParts
  /** Uploads that are on their way to the owner, by name. */
  readonly #leaving = new Map<string, Promise<void>>()

  constructor(clock: Clock, ledger: Ledger, parts: AskedParts) {
    super(clock, ledger)
    this.#parts = parts
  }

  override begin(target: UploadTarget, call: Call, windows?: Windows): Upload {
    const upload = super.begin(target, call, windows)
    const { cas, digest } = target
    const looking = internalCall({ instanceName: target.instanceName, log: call.log })
    const look = async (): Promise<void> => {
      if ((await missingOf(cas, [digest], looking)).length === 0) this.finished(cas, digest)
    }
    const stop = this.clock.every(LOOK_MS, () => inBackground(look(), call.log, 'a look for the blob of an upload'))
    upload.over.then(stop, stop)
    return upload
  }

  override async find(target: UploadTarget): Promise<Resumable | undefined> {
    const live = await super.find(target)
    if (live !== undefined) return live
    const { name } = target
    await this.#leaving.get(name)
    const receivedBytes = await this.#parts.sizeOf(name)
    return receivedBytes === undefined ? undefined : { receivedBytes, resume: (call) => this.#resume(target, call) }
  }

  override park(upload: Upload): void {
    const { isResumable, instanceName, name, parkedForMs } = upload.target
    if (!upload.isLive) return
    if (!isResumable || upload.receivedBytes === 0) {
      upload.discard()
      return
    }
    const leave = async (): Promise<void> => {
      const part = await upload.surrender()
      if (part !== undefined) await this.#parts.keep({ name, instanceName, parkedForMs, part })
    }
    const leaving = leave()
      // Then it is lost, which any upload that was interrupted may be.
      .catch(() => {})
      .then(() => {
        if (this.#leaving.get(name) === leaving) this.#leaving.delete(name)
      })
    this.#leaving.set(name, leaving)
  }

  override async close(): Promise<void> {
    await super.close()
    await Promise.all(this.#leaving.values())
  }

  async #resume(target: UploadTarget, call: Call): Promise<Upload> {
    const part = await this.#parts.take(target.name)
    if (part === undefined)
      throw new StatusError('INVALID_ARGUMENT', 'ByteStream.Write: the upload is continued by another Write already')
    const upload = this.begin(target, call)
    try {
      for await (const bytes of piecesOf(part)) await upload.write(bytes)
      return upload
    } catch (error) {
      upload.discard()
      throw error
    } finally {
      if (!(part instanceof Uint8Array)) await unlink(part.path).catch(() => {})
    }
  }
}

const piecesOf = (part: UploadPart): AsyncIterable<Buffer> | Iterable<Buffer> =>
  part instanceof Uint8Array
    ? [Buffer.from(part.buffer, part.byteOffset, part.byteLength)]
    : createReadStream(part.path, { highWaterMark: STAGE_BYTES })
