import type { ObjectChunk, PartedUpload } from '../../objects/bucket.js'
import type { GcsRequests } from './gcs-request.js'

/**
 * A resumable upload of Google Cloud Storage. Parts are sent one after the other to the session address, which is the
 * only credential. The server ignores bytes of a repeated part that it already has. The last part gives the length of
 * the object and makes it visible, so it waits for `complete`.
 */
export class GcsUpload implements PartedUpload {
  readonly #requests: GcsRequests
  readonly #session: string
  #sentBytes = 0
  /** Offset of each part by index, so that a repeated part keeps its offset. */
  #sending: { readonly index: number; readonly offset: number } | undefined
  #last: Buffer = NO_BYTES

  constructor(requests: GcsRequests, session: string) {
    this.#requests = requests
    this.#session = session
  }

  async send({ index, bytes, isLast }: ObjectChunk, signal: AbortSignal): Promise<void> {
    if (isLast) {
      this.#last = bytes
      return
    }
    if (this.#sending?.index !== index) this.#sending = { index, offset: this.#sentBytes }
    await this.#put(bytes, this.#sending.offset, '*', signal)
    this.#sentBytes = this.#sending.offset + bytes.length
  }

  async complete(signal: AbortSignal): Promise<void> {
    await this.#put(this.#last, this.#sentBytes, this.#sentBytes + this.#last.length, signal)
  }

  async abort(signal: AbortSignal): Promise<void> {
    // A successful deletion is answered with status 499.
    const { body } = await this.#requests.send(this.#session, { method: 'DELETE', signal }).catch(() => GONE)
    body?.resume()
  }

  async #put(bytes: Buffer, offset: number, total: number | '*', signal: AbortSignal): Promise<void> {
    const headers = { 'content-range': `bytes ${offset}-${offset + bytes.length - 1}/${total}` }
    const { body } = await this.#requests.send(this.#session, { method: 'PUT', headers, body: bytes, signal })
    body.resume()
  }
}

const NO_BYTES = Buffer.alloc(0)

const GONE = { body: undefined }
