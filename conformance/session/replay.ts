import { setTimeout } from 'node:timers/promises'
import type { Candidate } from '../exam/candidate.js'
import type { Exam } from '../exam/exam.js'
import { Divergence } from '../exam/finding.js'
import { codec } from '../proto/codec.js'
import { Code, codeName } from '../proto/status-code.js'
import type { CallSettings, Outcome } from '../wire/client.js'
import type { Any, Method } from '../wire/methods.js'
import * as methods from '../wire/methods.js'
import { show } from '../wire/show.js'
import { Answers, isRead, recordedResponses } from './answers.js'
import { Comparison, fieldsOf } from './compare.js'
import { Content } from './content.js'
import { fromJson, type Json, toJson } from './json-form.js'
import type { Session, SessionCall } from './session.js'
import { type Difference, untolerated } from './tolerance.js'
import { compressedAs, recordedWrite, requestsOf, sizeOf, Uploads } from './uploads.js'

const requestMetadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

/** Longer than any action of a session. */
const CALL_MS = 30_000
/** How long a server may take to read an upload that is about to break off. */
const [ASKED_AT_MOST, ASKING_EVERY_MS] = [100, 20]

/** One replay of a session against a server. */
export class Replay {
  readonly #exam: Exam
  readonly #session: Session
  readonly #candidate: Candidate
  readonly #content: Content
  readonly #uploads: Uploads
  readonly #answers: Answers
  readonly #exact: readonly string[]
  #isStopped = false

  /** `exact` lists paths that are compared without tolerance. */
  constructor(session: Session, exam: Exam, exact: readonly string[] = []) {
    const { candidate } = exam
    this.#exam = exam
    this.#session = session
    this.#exact = exact
    this.#candidate = candidate
    this.#content = new Content(session, candidate)
    this.#uploads = new Uploads(candidate, this.#content)
    this.#answers = new Answers(this.#content)
  }

  /**
   * Sends the client's calls, each after the calls that the client had waited for. Throws a Divergence at the first
   * answer that this client would fail on, a SessionError if the session itself is wrong.
   */
  async run(): Promise<void> {
    const done = new Map<number, Promise<void>>()
    for (const call of this.#session.calls) {
      const before = call.after.map((id) => done.get(id))
      done.set(
        call.id,
        Promise.all(before).then(() => (this.#isStopped ? undefined : this.#perform(call))),
      )
    }
    try {
      await Promise.all(done.values())
    } catch (error) {
      this.#isStopped = true
      await Promise.allSettled(done.values())
      throw error
    }
  }

  /** No more calls start. */
  stop(): void {
    this.#isStopped = true
  }

  async #perform(call: SessionCall): Promise<void> {
    const name = call.method.slice(call.method.lastIndexOf('/') + 1)
    if (name === 'Write') return this.#write(call)
    if (name === 'QueryWriteStatus') return this.#queryWriteStatus(call)
    if (name === 'FindMissingBlobs') return this.#findMissing(call)
    if (name === 'BatchUpdateBlobs') return this.#batchUpdate(call)
    const digest = isRead(call)
    if (digest !== undefined && this.#answers.inlined.has(digest)) return
    const isLeft = call.end.code.startsWith('broken off')
    const maxResponses = isLeft ? Math.max(1, recordedResponses(call).length) : undefined
    const outcome = await this.#call(
      call,
      requestsOf(call).map((form) => this.#request(form)),
      maxResponses,
    )
    if (!isLeft) this.#judge(call, outcome)
    else this.#answers.bindOperation(recordedResponses(call)[0], toJson(outcome.responses[0] ?? {}))
  }

  #request(form: Json): object {
    const mapped = fieldsOf(this.#content.mapped(form))
    const hasInstance = 'digestFunction' in mapped || !('resourceName' in mapped || 'name' in mapped)
    return fromJson(hasInstance ? { ...mapped, instanceName: this.#content.instanceName } : mapped) as object
  }

  async #call(call: SessionCall, requests: readonly object[], maxResponses?: number): Promise<Outcome<Any>> {
    const [service = '', name = ''] = call.method.split('/')
    const method: Method<Any, Any> = { service, name }
    const settings = { ...this.#settings(call), ...(maxResponses === undefined ? {} : { maxResponses }) }
    const outcome = await this.#candidate.client.call(method, requests as Any[], settings)
    this.#exam.note({ service: `${call.id} ${service}`, name }, outcome)
    return outcome
  }

  #settings(call: SessionCall): CallSettings {
    const metadata = { ...this.#session.metadata, ...call.metadata }
    const isSent = Object.keys(metadata).length > 0
    return {
      deadlineMs: CALL_MS,
      requestMetadata: isSent
        ? requestMetadataCodec.encode(fromJson(this.#content.mapped(metadata)) as object)
        : 'none',
    }
  }

  #judge(call: SessionCall, outcome: Outcome<Any>): void {
    const isSuccess = call.end.code === 'OK' && outcome.code === 0
    const comparison = isSuccess
      ? this.#answers.compare(call, { forms: outcome.responses.map(toJson), messages: outcome.responses })
      : new Comparison(this.#content)
    if (outcome.garbage !== undefined) comparison.differs('answer', 'messages that decode', outcome.garbage)
    const code = codeName(outcome.code)
    if (call.end.code !== code) comparison.differs('status', call.end.code, `${code} ${outcome.message}`.trim())
    else if (code !== 'OK') {
      comparison.compare(call.end.message, outcome.message, 'message')
      comparison.compare(call.end.details, outcome.details.map(toJson), 'details')
    }
    this.#stumble(call, comparison.differences)
  }

  #stumble(call: SessionCall, differences: readonly Difference[]): void {
    const [first, ...others] = untolerated(
      differences.filter(({ expected, found, path }) => show(expected) !== show(found) && this.#matters(path)),
      this.#session.client,
      call.method,
      [...this.#exact, ...(call.exact ?? [])],
    )
    if (first === undefined) return
    const more = others.length === 0 ? '' : `, and ${others.length} more`
    const where = `call ${call.id} ${call.method.replace(/^.*\./, '')}: ${first.path}`
    throw new Divergence(`${where} ${show(first.expected)}`, `${show(first.found)}${more}`)
  }

  /** A client without execution ignores what a server announces about execution. */
  #matters(path: string): boolean {
    return this.#session.needs.includes('execution') || !path.startsWith('executionCapabilities')
  }

  async #findMissing(call: SessionCall): Promise<void> {
    const recordedAsked = (requestsOf(call)[0]?.['blobDigests'] ?? []) as readonly string[]
    const storedBefore = new Set(this.#uploads.stored)
    const outcome = await this.#call(
      call,
      requestsOf(call).map((form) => this.#request(form)),
    )
    if (outcome.code !== 0 || call.end.code !== 'OK') return this.#judge(call, outcome)
    const answer = fieldsOf(toJson(outcome.responses[0] ?? {}))['missingBlobDigests'] ?? []
    const missing = new Set(answer as readonly string[])
    const recordedMissing = new Set(
      (fieldsOf(recordedResponses(call)[0])['missingBlobDigests'] ?? []) as readonly string[],
    )
    const asked = recordedAsked.map((digest) => this.#content.digest(digest))
    const unasked = [...missing].filter((digest) => !asked.includes(digest))
    if (unasked.length > 0) {
      this.#stumble(call, [{ path: 'missingBlobDigests', expected: 'only digests of the request', found: unasked }])
    }
    this.#uploads.learnMissing(asked, missing)
    for (const recorded of recordedAsked) {
      const digest = this.#content.digest(recorded)
      if (!missing.has(digest) || recordedMissing.has(recorded)) continue
      await this.#sendMissing(call, recorded, storedBefore.has(digest))
    }
  }

  /** The recorded server had this blob. A client uploads missing blobs, unless the server had confirmed them. */
  async #sendMissing(call: SessionCall, recorded: string, wasStored: boolean): Promise<void> {
    const digest = this.#content.digest(recorded)
    const difference = { path: `missingBlobDigests[${digest}]`, expected: 'present, as stored before' }
    // Some servers never store the empty blob, and clients send it each time.
    const isLost = wasStored && sizeOf(digest) > 0
    if (isLost || !this.#content.isOwn(recorded)) return this.#stumble(call, [{ ...difference, found: 'missing' }])
    const refusal = await this.#uploads.send(recorded, this.#settings(call))
    if (refusal !== undefined) this.#stumble(call, [{ ...difference, found: refusal }])
    this.#uploads.stored.add(digest)
  }

  async #batchUpdate(call: SessionCall): Promise<void> {
    const [form] = requestsOf(call)
    const entries = ((form?.['requests'] ?? []) as readonly Json[]).map(fieldsOf)
    const sent = entries.filter(({ digest }) => this.#uploads.isToSend(String(digest)))
    if (sent.length === 0) return
    const requests = sent.map(({ digest, compressor }) => {
      const bytes = this.#content.bytes(String(digest))
      const isCompressed = compressor === 1
      const own = fromJson(this.#content.digest(String(digest)))
      return { digest: own, data: isCompressed ? compressedAs('zstd', bytes) : bytes, compressor: compressor ?? 0 }
    })
    const { requests: _, ...rest } = form ?? {}
    const outcome = await this.#call(call, [{ ...this.#request(rest), requests }])
    this.#judge(call, outcome)
    for (const { digest } of sent) this.#uploads.stored.add(this.#content.digest(String(digest)))
  }

  async #write(call: SessionCall): Promise<void> {
    const write = recordedWrite(call)
    if (this.#uploads.isSkipped(write.uploadId)) return
    if (write.fromBytes === 0 && !this.#uploads.isToSend(write.digest)) return this.#uploads.skip(write.uploadId)
    if (call.end.code.startsWith('broken off')) return this.#brokenWrite(call)
    const outcome = await this.#call(call, [...this.#uploads.messages(write)])
    const code = codeName(outcome.code)
    if (code !== call.end.code) {
      this.#stumble(call, [{ path: 'status', expected: call.end.code, found: `${code} ${outcome.message}`.trim() }])
    }
    if (code !== 'OK') return
    const committed = Number(outcome.responses[0]?.committedSize ?? 0)
    const accepted = [this.#uploads.wireBytes(write), ...(write.compressor === undefined ? [] : [-1])]
    if (!accepted.includes(committed)) {
      this.#stumble(call, [{ path: 'committedSize', expected: accepted.join(' or '), found: committed }])
    }
    this.#uploads.stored.add(this.#content.digest(write.digest))
  }

  /** Sends the recorded part and breaks the call off once the server has it, as the recorder did. */
  async #brokenWrite(call: SessionCall): Promise<void> {
    const conversation = this.#candidate.client.open(methods.write, this.#settings(call))
    let resourceName = ''
    let sentBytes = 0
    for (const message of this.#uploads.messages(recordedWrite(call))) {
      resourceName ||= message.resourceName
      sentBytes = message.writeOffset + message.data.length
      await conversation.send(message)
    }
    await this.#arrived(call, resourceName, sentBytes)
    conversation.cancel()
    this.#exam.note({ service: `${call.id} ${methods.write.service}`, name: 'Write' }, await conversation.outcome)
  }

  /**
   * A reset overtakes data that waits for flow control or for the server: polls until the bytes are there, up to a
   * limit.
   */
  async #arrived(call: SessionCall, resourceName: string, sentBytes: number): Promise<void> {
    for (let asked = 0; asked < ASKED_AT_MOST; asked++) {
      const { code, responses } = await this.#candidate.client.call(
        methods.queryWriteStatus,
        { resourceName },
        this.#settings(call),
      )
      if (code === Code.UNIMPLEMENTED || Number(responses[0]?.committedSize ?? 0) >= sentBytes) return
      await setTimeout(ASKING_EVERY_MS)
    }
  }

  async #queryWriteStatus(call: SessionCall): Promise<void> {
    const [form] = requestsOf(call)
    const name = String(form?.['resourceName'])
    const [, uploadId = ''] = /uploads\/([^/]+)\//.exec(name) ?? []
    if (this.#uploads.isSkipped(uploadId)) return
    const outcome = await this.#call(call, [this.#request(form ?? {})])
    const code = codeName(outcome.code)
    if (code !== call.end.code) this.#stumble(call, [{ path: 'status', expected: call.end.code, found: code }])
    const { committedSize = 0, complete = false } = outcome.responses[0] ?? {}
    if (complete) this.#uploads.skip(uploadId)
    this.#uploads.learnCommitted(uploadId, code === 'OK' ? Number(committedSize) : 0)
  }
}
