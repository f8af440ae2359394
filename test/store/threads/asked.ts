import { Readable, Writable } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'
import { digestOf, type SentDigest, sentDigest } from '../../../src/assembly/threads/thread-calls.js'
import { type Code, StatusError } from '../../../src/base/status-error.js'
import { ForwardingStore } from '../../../src/blobs/forwarding.js'
import { type BlobEntry, missingOf, type Outcomes, outcomeOf, type Store } from '../../../src/blobs/store.js'
import type { Digest } from '../../../src/reapi/digest.js'
import type { DigestBatch } from '../../../src/reapi/digest-batch.js'
import { type Call, cancelledBy, internalCall, whenAborted } from '../../../src/rpc/call.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import { PushedFeed } from '../../../src/stream/blob/pushed-feed.js'
import { join } from '../../../src/stream/join.js'
import type { Range } from '../../../src/stream/path.js'

// A test asks a thread to use its store as a call would. One message for each portion of a blob, which the other side asks for.

type Failure = { readonly code: Code; readonly message: string }

export type Asked = { readonly id: number } & (
  | { readonly ask: 'missing'; readonly digests: readonly SentDigest[] }
  | { readonly ask: 'get'; readonly digest: SentDigest; readonly range: Range }
  | {
      readonly ask: 'put'
      readonly digest: SentDigest
      readonly bytes?: Uint8Array
      readonly sizeBytes?: number | undefined
    }
  | { readonly ask: 'chunk'; readonly bytes: Uint8Array }
  | { readonly ask: 'end' }
  | { readonly ask: 'fail'; readonly failure: Failure }
  | { readonly ask: 'more' }
  | { readonly ask: 'abort' }
)
type Answer = { readonly id: number } & (
  | { readonly got: 'value'; readonly value?: unknown }
  | { readonly got: 'failure'; readonly failure: Failure }
  | { readonly got: 'chunk'; readonly bytes: Uint8Array }
  | { readonly got: 'more' }
  | { readonly got: 'end' }
)
type Part = { readonly bytes?: Uint8Array; readonly sizeBytes?: number | undefined; readonly offset: number }

const failureOf = (error: unknown): Failure => {
  const { code, message } = StatusError.from(error)
  return { code, message }
}
const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** In the thread: answers for a store. */
export const answerFor = (store: Store, port: MessagePort): void => {
  const aborts = new Map<number, AbortController>()
  const feeds = new Map<number, PushedFeed>()
  /** Called when the other side has room. */
  const wanted = new Map<number, () => void>()
  const post = (answer: Answer): void => port.postMessage(answer)

  const serve = async (id: number, call: Call, work: (call: Call) => Promise<unknown>): Promise<void> => {
    try {
      post({ id, got: 'value', value: await work(call) })
    } catch (error) {
      post({ id, got: 'failure', failure: failureOf(error) })
    }
  }
  const send = async (id: number, blob: Blob, call: Call): Promise<void> => {
    const room = (): Promise<void> => new Promise((resolve) => wanted.set(id, resolve))
    try {
      // The signal is that of this call alone.
      await Promise.race([room(), new Promise<void>((resolve) => whenAborted(call.signal, resolve))])
      if (call.signal.aborted) {
        blob.discard()
        return
      }
      const sink = new Writable({
        write: (bytes: Buffer, _, callback) => {
          const next = room()
          post({ id, got: 'chunk', bytes })
          void next.then(() => callback())
        },
      })
      await blob.into([sink], call.signal)
      post({ id, got: 'end' })
    } catch (error) {
      post({ id, got: 'failure', failure: failureOf(error) })
    } finally {
      wanted.delete(id)
      aborts.delete(id)
    }
  }
  const begin = (asked: Asked): void => {
    const { id } = asked
    const abort = new AbortController()
    aborts.set(id, abort)
    const call = internalCall({ signal: abort.signal })
    if (asked.ask === 'missing')
      void serve(id, call, async () => {
        aborts.delete(id)
        const missing = await missingOf(store, asked.digests.map(digestOf), call)
        return missing.map(({ key }) => key)
      })
    else if (asked.ask === 'get') {
      let sent: Blob | undefined
      void serve(id, call, async () => {
        const blob = await store.get(digestOf(asked.digest), asked.range, call)
        const { sizeBytes, offset } = blob
        if (blob.encoding !== 'IDENTITY') throw new Error('a file store has no encodings')
        if (blob.isAtHand) {
          aborts.delete(id)
          return { bytes: await blob.bytes(Number.POSITIVE_INFINITY, call), offset } satisfies Part
        }
        sent = blob
        return { sizeBytes, offset } satisfies Part
      }).then(() => sent && send(id, sent, call))
    } else if (asked.ask === 'put') {
      const { bytes, sizeBytes } = asked
      const feed = new PushedFeed()
      if (bytes === undefined) feeds.set(id, feed)
      const blob = bytes === undefined ? Blob.ofFeed(feed, { sizeBytes }) : Blob.ofBytes(bufferOf(bytes))
      void serve(id, call, () => store.put(digestOf(asked.digest), blob, call)).then(() => {
        feed.discard()
        feeds.delete(id)
        aborts.delete(id)
      })
    }
  }
  port.on('message', (asked: Asked) => {
    const { id } = asked
    if (asked.ask === 'abort') aborts.get(id)?.abort()
    else if (asked.ask === 'more') wanted.get(id)?.()
    else if (asked.ask === 'end') feeds.get(id)?.finish()
    else if (asked.ask === 'fail')
      feeds.get(id)?.fail(StatusError.from(new StatusError(asked.failure.code, asked.failure.message)))
    else if (asked.ask === 'chunk')
      void feeds
        .get(id)
        ?.push(bufferOf(asked.bytes))
        .then(() => post({ id, got: 'more' }))
    else begin(asked)
  })
}

interface Waiting {
  settle(answer: Answer): void
}

/** In the test: finds, reads and writes in a thread. Everything else is asked of the owner. */
export class AskedStore extends ForwardingStore {
  readonly #port: MessagePort
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0

  constructor(owner: Store, port: MessagePort) {
    super(owner)
    this.#port = port
    port.on('message', (answer: Answer) => this.#waiting.get(answer.id)?.settle(answer))
    port.unref()
  }

  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const all = digests.digests()
    const asked = this.#ask({ ask: 'missing', digests: all.map(sentDigest) }, call)
    const missing = new Set((await asked.answer) as readonly string[])
    return digests.select(all.flatMap(({ key }, at) => (missing.has(key) ? [at] : [])))
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    let stream: Readable | undefined
    const { id, answer, end } = this.#ask({ ask: 'get', digest: sentDigest(digest), range }, call, (later) => {
      if (later.got === 'chunk') stream?.push(bufferOf(later.bytes))
      else if (later.got === 'end') stream?.push(null)
      else if (later.got === 'failure') stream?.destroy(errorOf(later.failure))
    })
    const { bytes, sizeBytes, offset } = (await answer) as Part
    if (bytes !== undefined) {
      end()
      return Blob.ofBytes(bufferOf(bytes), { offset })
    }
    stream = new Readable({
      read: () => this.#post({ id, ask: 'more' }),
      destroy: (error, callback) => {
        this.#post({ id, ask: 'abort' })
        end()
        callback(error)
      },
    })
    return Blob.ofPath([stream], { sizeBytes, offset })
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const cancelled = cancelledBy(call)
    if (cancelled !== undefined) {
      blob.discard()
      throw cancelled
    }
    const about = { ask: 'put', digest: sentDigest(digest) } as const
    if (blob.isAtHand) {
      await this.#ask({ ...about, bytes: await blob.bytes(Number.POSITIVE_INFINITY, call) }, call).answer
      return
    }
    let taken = (): void => {}
    const { id, answer } = this.#ask({ ...about, sizeBytes: blob.sizeBytes }, call, () => taken())
    const sink = new Writable({
      write: (bytes: Buffer, _, callback) => {
        taken = callback
        this.#post({ id, ask: 'chunk', bytes })
      },
      final: (callback) => {
        this.#post({ id, ask: 'end' })
        callback()
      },
    })
    answer.catch((error: StatusError) => sink.destroy(error))
    try {
      await join([...blob.path(), sink], call.signal)
    } catch (error) {
      this.#post({ id, ask: 'fail', failure: failureOf(error) })
      await answer.catch(() => {})
      throw error
    }
    await answer
  }

  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    return Promise.all(entries.map(({ digest, blob }) => outcomeOf(this.put(digest, blob, call))))
  }

  /** `later` gets what follows the answer. Without it there is nothing. */
  #ask(asked: Unnumbered, call: Call, later?: (answer: Answer) => void) {
    const id = ++this.#lastId
    const abort = (): void => this.#post({ id, ask: 'abort' })
    whenAborted(call.signal, abort)
    const end = (): void => {
      call.signal.removeEventListener('abort', abort)
      this.#waiting.delete(id)
    }
    const answer = new Promise<unknown>((resolve, reject) => {
      const settle = (found: Answer): void => {
        if (found.got === 'more') later?.(found)
        else if (found.got === 'value') resolve(found.value)
        else if (found.got === 'failure') reject(errorOf(found.failure))
        if (found.got !== 'more' && (asked.ask !== 'get' || found.got === 'failure')) end()
        if (asked.ask === 'get' && found.got === 'value') this.#waiting.set(id, { settle: (next) => later?.(next) })
      }
      this.#waiting.set(id, { settle })
      this.#post({ id, ...asked } as Asked)
    })
    return { id, answer, end }
  }

  #post(asked: Asked): void {
    this.#port.postMessage(asked)
  }
}

type Unnumbered = Asked extends infer One ? (One extends Asked ? Omit<One, 'id'> : never) : never

const errorOf = ({ code, message }: Failure): StatusError => new StatusError(code, message)
