import { codec } from '../proto/codec.js'
import { codeName } from '../proto/status-code.js'
import { type Json, toJson } from '../session/json-form.js'
import type { Session, SessionCall, SessionEnd, SessionMessage } from '../session/session.js'
import { BlobSources } from './blob-sources.js'
import { type DecodedCall, decodeCall } from './decoded-call.js'
import { harvest, resourceOf } from './harvest.js'
import { notesOf } from './notes.js'
import { Placeholders } from './placeholders.js'
import type { TapedCall, TapedEnd } from './tape/tape.js'

const statusCodec = codec('google.rpc.Status')

export interface Transcript {
  readonly session: Omit<Session, 'id' | 'folder'>
  readonly files: ReadonlyMap<string, Buffer>
  /** A note for readers of the session. */
  readonly notes: readonly string[]
}

/** Turns a tape into a session. */
export const transcribe = (
  taped: readonly TapedCall[],
  head: { readonly client: string; readonly summary: string },
): Transcript => {
  const calls = taped.map(decodeCall)
  const harvested = harvest(calls)
  const { blobs, expected, files } = new BlobSources(harvested).sourcesOf(calls)
  const placeholders = new Placeholders()
  const after = dependencies(taped)
  const written = calls.map((call, index) => sessionCall(call, index + 1, after[index] ?? [], placeholders))
  const common = commonMetadata(written)
  const session = {
    client: head.client,
    origin: 'recorded' as const,
    summary: head.summary,
    level: 'must' as const,
    needs: needsOf(calls),
    instanceName: instanceOf(calls),
    metadata: common,
    calls: written.map((call) => withoutCommon(call, common)),
    blobs,
    expected,
  }
  return {
    session,
    files,
    notes: notesOf(calls, session, harvested.uploaded),
  }
}

const sessionCall = (
  call: DecodedCall,
  id: number,
  after: readonly number[],
  placeholders: Placeholders,
): SessionCall => {
  const { taped, method, messages, metadata } = call
  const refer = references(call)
  const deadline = /^(\d+)([HMSmun])$/.exec(String(taped.headers['grpc-timeout'] ?? ''))
  return {
    id,
    method,
    after,
    startMs: Math.round(taped.startMs),
    endMs: Math.round(taped.endMs),
    ...(deadline === null ? {} : { deadlineMs: deadlineMs(Number(deadline[1]), deadline[2] ?? 'm') }),
    ...(metadata === undefined ? {} : { metadata: toJson(metadata) as { readonly [field: string]: Json } }),
    messages: messages.map(({ isRequest, ms, message }): SessionMessage => {
      const form = placeholders.applied(refer(isRequest, message))
      return [isRequest ? '>' : '<', Math.round(ms), form]
    }),
    end: endOf(taped.end),
  }
}

const UNITS_MS: Readonly<Record<string, number>> = { H: 3.6e6, M: 6e4, S: 1e3, m: 1, u: 1e-3, n: 1e-6 }

/** Rounded to seconds, because the rest of a deadline differs from run to run. */
const deadlineMs = (value: number, unit: string): number => Math.ceil((value * (UNITS_MS[unit] ?? 1)) / 1_000) * 1_000

/** The JSON form of a call's messages; bytes of blobs are replaced by blob and offset. */
const references = (call: DecodedCall) => {
  const resource = resourceOf(call.requests[0]?.resourceName ?? '')
  let at = 0
  // biome-ignore lint/suspicious/noExplicitAny: any message of any service.
  return (isRequest: boolean, message: any): Json => {
    const form = toJson(message)
    if (form === null || typeof form !== 'object' || Array.isArray(form)) return form
    const fields = form as { readonly [field: string]: Json }
    if ('data' in fields && resource !== undefined) {
      const from = isRequest ? message.writeOffset : at
      at = from + message.data.length
      const kind = resource.compressor === undefined ? {} : { compressor: resource.compressor }
      return { ...fields, data: { blob: resource.digest, from, to: at, ...kind } }
    }
    const list = /Batch(Update|Read)Blobs$/.test(call.method) ? (isRequest ? 'requests' : 'responses') : ''
    const entries = fields[list]
    if (!Array.isArray(entries)) return form
    return {
      ...fields,
      [list]: entries.map((entry) => ('data' in entry ? { ...entry, data: { blob: entry.digest } } : entry)),
    }
  }
}

const endOf = (end: TapedEnd | undefined): SessionEnd => {
  if (end === undefined) return { code: 'unfinished' }
  if (end.by !== 'status') return { code: `broken off by the ${end.by}` }
  const message = decodeURIComponent(String(end.trailers['grpc-message'] ?? ''))
  const encoded = end.trailers['grpc-status-details-bin']
  const details = encoded === undefined ? [] : statusCodec.decode(Buffer.from(String(encoded), 'base64')).details
  return {
    code: codeName(Number(end.trailers['grpc-status'])),
    ...(message === '' || message === 'OK' ? {} : { message }),
    ...(details.length === 0 ? {} : { details: details.map((each) => toJson(each)) }),
  }
}

/** For each call, the earlier calls that had ended when it began, without transitive ones. */
export const dependencies = (calls: readonly Pick<TapedCall, 'startMs' | 'endMs'>[]): number[][] => {
  const ancestors: Set<number>[] = []
  return calls.map(({ startMs }, index) => {
    const before = calls.flatMap((call, other) => (other < index && call.endMs <= startMs ? [other] : []))
    const implied = new Set(before.flatMap((other) => [...(ancestors[other] ?? [])]))
    ancestors.push(new Set(before))
    return before.filter((other) => !implied.has(other)).map((other) => other + 1)
  })
}

const commonMetadata = (calls: readonly SessionCall[]): { [field: string]: Json } => {
  const [first] = calls
  const same = Object.entries(first?.metadata ?? {}).filter(([name, value]) =>
    calls.every(({ metadata }) => JSON.stringify(metadata?.[name]) === JSON.stringify(value)),
  )
  return Object.fromEntries(same)
}

const withoutCommon = (call: SessionCall, common: { readonly [field: string]: Json }): SessionCall => {
  const { metadata, ...rest } = call
  const own = Object.entries(metadata ?? {}).filter(([name]) => !(name in common))
  return own.length === 0 ? rest : { ...rest, metadata: Object.fromEntries(own) }
}

const needsOf = (calls: readonly DecodedCall[]): Session['needs'] => {
  const called = (pattern: RegExp): boolean => calls.some(({ method }) => pattern.test(method))
  const isCompressed = calls.some(({ requests }) => /compressed-blobs\/zstd/.test(requests[0]?.resourceName ?? ''))
  const batches = calls.some(({ requests }) =>
    requests[0]?.requests?.some((entry: { compressor: number }) => entry.compressor),
  )
  const needs: Session['needs'] = [
    ...(called(/ContentAddressableStorage/) ? (['cas'] as const) : []),
    ...(called(/ByteStream/) ? (['bytestream'] as const) : []),
    ...(called(/GetActionResult/) ? (['action-cache'] as const) : []),
    ...(called(/UpdateActionResult/) ? (['action-cache-update'] as const) : []),
    ...(called(/Execution\//) ? (['execution'] as const) : []),
    ...(isCompressed ? (['compressor:zstd'] as const) : []),
    ...(batches ? (['batch-compressor:zstd'] as const) : []),
  ]
  return needs
}

const instanceOf = (calls: readonly DecodedCall[]): string =>
  calls.flatMap(({ requests }) => requests[0]?.instanceName ?? []).find((name) => name !== '') ?? ''
