import { createHash } from 'node:crypto'
import { decompress } from '../material/zstd.js'
import { Code, codeName } from '../proto/status-code.js'
import { compareActionResult, statusCode } from './action-result.js'
import { Comparison, fieldsOf } from './compare.js'
import type { Content } from './content.js'
import { isDigestText, type Json, toJson } from './json-form.js'
import type { SessionCall } from './session.js'

/** The responses of one call: JSON forms, and the messages for fields of bytes. */
export interface Came {
  readonly forms: readonly Json[]
  // biome-ignore lint/suspicious/noExplicitAny: any message of any service.
  readonly messages: readonly any[]
}

export const recordedResponses = (call: SessionCall): Json[] =>
  call.messages.filter(([direction]) => direction === '<').map(([, , form]) => form)

/** Compares the answers to a call with the recorded ones, in the way that clients read each method. */
export class Answers {
  readonly #content: Content
  /** Recorded digests that were inlined in another answer, so that the client does not read them. */
  readonly inlined = new Set<string>()

  constructor(content: Content) {
    this.#content = content
  }

  compare(call: SessionCall, came: Came): Comparison {
    const comparison = new Comparison(this.#content)
    const method = call.method.slice(call.method.lastIndexOf('/') + 1)
    const recorded = recordedResponses(call)
    if (method === 'Read') this.#read(comparison, call, came)
    else if (method === 'Execute' || method === 'WaitExecution') this.#operations(comparison, recorded, came)
    else if (method === 'GetCapabilities') capabilities(comparison, recorded[0], came.forms[0])
    else if (method === 'BatchReadBlobs') this.#batchRead(comparison, recorded[0], came)
    else if (method === 'BatchUpdateBlobs') statuses(comparison, came.forms[0])
    else if (/ActionResult$/.test(method)) this.#result(comparison, recorded[0], came.forms[0], 'result')
    else comparison.compare(recorded[0], came.forms[0], '')
    return comparison
  }

  #result(comparison: Comparison, recorded: Json | undefined, actual: Json | undefined, path: string): void {
    if (recorded === undefined && actual === undefined) return
    compareActionResult(comparison, this.#content, this.inlined, { recorded, actual, path })
  }

  #read(comparison: Comparison, call: SessionCall, came: Came): void {
    const request = fieldsOf(call.messages.find(([direction]) => direction === '>')?.[2])
    const name = String(request['resourceName'])
    const digest = /([0-9a-f]{64}\/\d+)$/.exec(name)?.[1]
    if (digest === undefined || call.end.code !== 'OK') return
    const wire = Buffer.concat(came.messages.map(({ data }) => data))
    const bytes = name.includes('compressed-blobs/zstd/') && wire.length > 0 ? decompress(wire) : wire
    const from = Number(request['readOffset'] ?? 0)
    const isPart = from > 0 || 'readLimit' in request
    if (isPart) this.#bytes(comparison, digest, bytes, from)
    else this.#blob(comparison, digest, bytes)
  }

  #blob(comparison: Comparison, recorded: string, bytes: Buffer): void {
    const found = `${createHash('sha256').update(bytes).digest('hex')}/${bytes.length}`
    if (found !== this.#content.digest(recorded)) comparison.differs('data', this.#content.digest(recorded), found)
    else this.#bytes(comparison, recorded, bytes, 0)
    const message = this.#content.expectedMessage(recorded)
    if (message !== undefined) comparison.compare(message.value, toJson(message.codec.decode(bytes)), 'data')
  }

  #bytes(comparison: Comparison, recorded: string, bytes: Buffer, from: number): void {
    const expected = this.#content.expectedBytes(recorded)?.subarray(from, from + bytes.length)
    if (expected === undefined || expected.equals(bytes)) return
    comparison.differs('data', expected.toString(), bytes.toString())
  }

  /** A call that the client left has still reported the name for WaitExecution. */
  bindOperation(recorded: Json | undefined, actual: Json | undefined): void {
    const [name, given] = [fieldsOf(recorded)['name'], fieldsOf(actual)['name']]
    if (typeof name === 'string' && typeof given === 'string') this.#content.bindName(name, given)
  }

  #operations(comparison: Comparison, recorded: readonly Json[], came: Came): void {
    const operations = came.forms.map(fieldsOf)
    const last = operations.at(-1)
    const recordedLast = fieldsOf(recorded.at(-1))
    const names = new Set(operations.map(({ name }) => name))
    if (names.size > 1) comparison.differs('name', 'one name in all messages', [...names].join(', '))
    this.bindOperation(recorded[0], came.forms[0])
    stages(comparison, operations)
    comparison.compare(recordedLast['done'], last?.['done'], 'done')
    comparison.compare(recordedLast['error'], last?.['error'], 'error')
    const early = operations.slice(0, -1).findIndex(({ done }) => done === true)
    if (early >= 0)
      comparison.differs('done', 'on the last message only', `on message ${early + 1} of ${operations.length}`)
    const { result: recordedResult, ...recordedRest } = fieldsOf(recordedLast['response'])
    const { result, ...rest } = fieldsOf(last?.['response'])
    comparison.compare(recordedRest, rest, 'response')
    // A failed action's other outputs are optional.
    const isTold = recordedResult !== undefined || statusCode(recordedRest['status']) === Code.OK
    if (isTold) this.#result(comparison, recordedResult, result, 'response.result')
  }

  #batchRead(comparison: Comparison, recorded: Json | undefined, came: Came): void {
    const wanted = new Set(entriesOf(recorded).map(({ digest }) => String(digest)))
    const messages = came.messages[0]?.responses ?? []
    const found = new Map(
      entriesOf(came.forms[0]).map((entry, index) => [String(entry['digest']), { entry, bytes: messages[index] }]),
    )
    for (const digest of wanted) {
      const actual = this.#content.digest(digest)
      const answer = found.get(actual)
      found.delete(actual)
      if (answer === undefined) {
        comparison.differs(`responses[${actual}]`, 'an entry', 'none')
        continue
      }
      const { entry, bytes } = answer
      const code = statusCode(entry['status'])
      comparison.differs(`responses[${actual}].status`, 'OK', 'status' in entry ? codeName(code) : 'absent')
      const data = entry['compressor'] === 1 ? decompress(bytes.data) : Buffer.from(bytes.data)
      this.#blob(comparison, digest, data)
    }
    for (const digest of found.keys()) comparison.differs(`responses[${digest}]`, 'only digests of the request', digest)
  }
}

const entriesOf = (form: Json | undefined): { readonly [field: string]: Json }[] =>
  ((fieldsOf(form)['responses'] ?? []) as readonly Json[]).map(fieldsOf)

/** The server must have stored every entry of a batch. */
const statuses = (comparison: Comparison, actual: Json | undefined): void => {
  for (const { digest, status } of entriesOf(actual)) {
    const code = statusCode(status)
    if (code !== 0) comparison.differs(`responses[${digest}].status`, 'OK', codeName(code))
  }
}

/** Stages only advance; a server may skip any of them. */
const stages = (comparison: Comparison, operations: readonly { readonly [field: string]: Json }[]): void => {
  const seen = operations.map(({ metadata }) => Number(fieldsOf(metadata)['stage'] ?? 0)).filter((stage) => stage > 0)
  const back = seen.findIndex((stage, index) => index > 0 && stage < (seen[index - 1] ?? 0))
  if (back > 0) comparison.differs('metadata.stage', 'stages that only advance', seen.join(', '))
}

/** Clients read these fields at start; other offers of the server do not matter. */
const capabilities = (comparison: Comparison, recorded: Json | undefined, actual: Json | undefined): void => {
  const [had, has] = [fieldsOf(recorded), fieldsOf(actual)]
  const functions = (of: Json | undefined): readonly Json[] =>
    (fieldsOf(of)['digestFunctions'] ?? []) as readonly Json[]
  const sha256 = 1
  if (!functions(has['cacheCapabilities']).includes(sha256)) {
    comparison.differs('cacheCapabilities.digestFunctions', 'SHA256 among them', functions(has['cacheCapabilities']))
  }
  const [low, high] = [has['lowApiVersion'], has['highApiVersion']].map((of) => Number(fieldsOf(of)['major'] ?? 0))
  if (low !== 2 || high !== 2) comparison.differs('lowApiVersion', '2.0 in the range', `${low} to ${high}`)
  const executes = (of: { readonly [field: string]: Json }): boolean =>
    fieldsOf(of['executionCapabilities'])['execEnabled'] === true
  if (executes(had) && !executes(has)) comparison.differs('executionCapabilities.execEnabled', true, false)
}

export const isRead = (call: SessionCall): string | undefined => {
  if (!call.method.endsWith('/Read')) return undefined
  const request = fieldsOf(call.messages.find(([direction]) => direction === '>')?.[2])
  const [digest] = /[0-9a-f]{64}\/\d+$/.exec(String(request['resourceName'])) ?? []
  return isDigestText(digest) ? digest : undefined
}
