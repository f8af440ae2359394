import type { Candidate } from '../exam/candidate.js'
import { compress } from '../material/zstd.js'
import type { CallSettings } from '../wire/client.js'
import * as methods from '../wire/methods.js'
import { fieldsOf } from './compare.js'
import { type Content, SessionError } from './content.js'
import { type Json, parseDigest } from './json-form.js'
import type { DigestText, SessionCall } from './session.js'

/** One recorded ByteStream.Write: the facts that decide what is sent. */
export interface RecordedWrite {
  readonly resourceName: string
  /** The client's name for this upload; an interrupted upload has more than one call. */
  readonly uploadId: string
  readonly digest: DigestText
  readonly compressor: string | undefined
  readonly fromBytes: number
  readonly toBytes: number
  readonly chunkBytes: number
  readonly offsets: readonly number[]
  readonly isNamedInEach: boolean
  readonly finishes: boolean
  /** The last data and the end come in separate messages. */
  readonly finishesEmpty: boolean
}

export const requestsOf = (call: SessionCall): readonly { readonly [field: string]: Json }[] =>
  call.messages.filter(([direction]) => direction === '>').map(([, , form]) => fieldsOf(form))

const dataOf = (request: { readonly [field: string]: Json }) => {
  const data = fieldsOf(request['data'])
  return { from: Number(data['from'] ?? 0), to: Number(data['to'] ?? 0), blob: data['blob'] }
}

export const recordedWrite = (call: SessionCall): RecordedWrite => {
  const requests = requestsOf(call)
  const [first] = requests
  const last = requests.at(-1)
  const resourceName = String(first?.['resourceName'] ?? '')
  const match = /uploads\/([^/]+)\/(?:blobs|compressed-blobs\/(\w+))\/(?:blake3\/)?([0-9a-f]+\/\d+)/.exec(resourceName)
  if (match === null || first === undefined || last === undefined) {
    throw new SessionError(`call ${call.id}: a Write without a resource name`)
  }
  const ranges = requests.map(dataOf)
  return {
    resourceName,
    uploadId: match[1] ?? '',
    compressor: match[2],
    digest: match[3] ?? '',
    fromBytes: ranges[0]?.from ?? 0,
    toBytes: Math.max(...ranges.map(({ to }) => to)),
    chunkBytes: Math.max(1, ...ranges.map(({ from, to }) => to - from)),
    offsets: ranges.map(({ from }) => from),
    isNamedInEach: requests.length > 1 && requests.every((request) => 'resourceName' in request),
    finishes: last['finishWrite'] === true,
    finishesEmpty: requests.length > 1 && last['finishWrite'] === true && !('data' in last),
  }
}

/** The blobs that the server lacks and those it was given, in this run's digests. */
export class Uploads {
  readonly #candidate: Candidate
  readonly #content: Content
  readonly #missing = new Map<DigestText, boolean>()
  readonly #committed = new Map<string, number>()
  readonly #skipped = new Set<string>()
  readonly stored = new Set<DigestText>()

  constructor(candidate: Candidate, content: Content) {
    this.#candidate = candidate
    this.#content = content
  }

  learnMissing(asked: readonly DigestText[], missing: ReadonlySet<DigestText>): void {
    for (const digest of asked) this.#missing.set(digest, missing.has(digest))
  }

  /** A client sends blobs reported as missing, and blobs that it did not ask about. */
  isToSend(recorded: DigestText): boolean {
    return this.#missing.get(this.#content.digest(recorded)) ?? true
  }

  /** True if the upload need not continue: the server has the blob. */
  isSkipped(uploadId: string): boolean {
    return this.#skipped.has(uploadId)
  }

  skip(uploadId: string): void {
    this.#skipped.add(uploadId)
  }

  learnCommitted(uploadId: string, committedBytes: number): void {
    this.#committed.set(uploadId, committedBytes)
  }

  /** The messages of a Write as recorded, or from the server's committed size if it was interrupted before. */
  *messages(
    write: RecordedWrite,
  ): Generator<{ resourceName: string; writeOffset: number; data: Buffer; finishWrite: boolean }> {
    const bytes = this.#wire(write)
    const isResumed = write.fromBytes > 0
    const from = isResumed ? (this.#committed.get(write.uploadId) ?? 0) : 0
    const isWhole = write.finishes && !write.finishesEmpty
    const to = write.finishes ? bytes.length : Math.min(write.toBytes, bytes.length)
    const isAsRecorded = from === write.fromBytes && to === write.toBytes
    const offsets = isAsRecorded ? write.offsets : offsetsBetween(from, to, write.chunkBytes, write.finishesEmpty)
    for (const [index, at] of offsets.entries()) {
      const next = offsets[index + 1] ?? to
      const isLast = index === offsets.length - 1
      yield {
        resourceName: index === 0 || write.isNamedInEach ? this.#content.resourceName(write.resourceName) : '',
        writeOffset: at,
        data: bytes.subarray(at, next),
        finishWrite: isLast && (isWhole || write.finishesEmpty),
      }
    }
  }

  /** The committed size that the server should report for the complete upload. */
  wireBytes(write: RecordedWrite): number {
    return this.#wire(write).length
  }

  /** Sends a blob that this server lacks and the recorded one had. */
  async send(recorded: DigestText, settings: CallSettings): Promise<string | undefined> {
    const { instanceName, client } = this.#candidate
    const digest = this.#content.digest(recorded)
    const resourceName = `${instanceName === '' ? '' : `${instanceName}/`}uploads/${this.#content.freshName(`extra ${recorded}`)}/blobs/${digest}`
    const request = { resourceName, data: this.#content.bytes(recorded), finishWrite: true }
    const { code, message } = await client.call(methods.write, request, settings)
    return code === 0 ? undefined : message
  }

  #wire({ digest, compressor }: RecordedWrite): Buffer {
    const bytes = this.#content.bytes(digest)
    return compressor === undefined ? bytes : compressedAs(compressor, bytes)
  }
}

/** Compressed again, because the recorded stream holds no salt. */
export const compressedAs = (compressor: string, bytes: Buffer): Buffer => {
  if (compressor === 'zstd') return compress(bytes)
  throw new SessionError(`sessions are compressed with zstd, not ${compressor}`)
}

const offsetsBetween = (from: number, to: number, chunkBytes: number, endsEmpty: boolean): number[] => {
  const offsets = [from]
  for (let at = from + chunkBytes; at < to; at += chunkBytes) offsets.push(at)
  return endsEmpty ? [...offsets, to] : offsets
}

export const sizeOf = (digest: DigestText): number => parseDigest(digest).sizeBytes
