import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { isStatus } from '../../base/status-error.js'
import type { FileRef } from '../../builds/detail/file-ref.js'
import { readBlob } from '../../content/read-blob.js'
import type { Visit } from '../page.js'
import { blobOf, type CasOf } from './blob-text.js'

/** One piece of work in a profile of Bazel, in milliseconds since its begin. */
export interface Work {
  readonly lane: number
  readonly name: string
  readonly kind: string
  readonly fromMs: number
  readonly tookMs: number
}

export interface Profile {
  /** The threads with work and their names: the critical path, then the busiest. */
  readonly lanes: readonly { readonly id: number; readonly name: string }[]
  readonly works: readonly Work[]
  readonly endMs: number
  /** Work that was too short or too much to be shown. */
  readonly leftOut: number
}

const MAX_PACKED_BYTES = 32 * 1024 * 1024
const MAX_PLAIN_BYTES = 128 * 1024 * 1024
const MAX_LANES = 32
const MAX_WORKS = 1500
const MAX_NAME = 200
/** The thread that Bazel invents for the critical path. */
const CRITICAL = 'Critical Path'

/** The profile of a build, if it was uploaded to a CAS that the reader may read; otherwise why there is none. */
export const profileOf = async (file: FileRef, visit: Visit, casOf: CasOf): Promise<Profile | string> => {
  const blob = blobOf(file)
  const cas = blob && casOf(blob.instance)
  if (blob === undefined || cas === undefined) return 'The profile was not uploaded.'
  if (!visit.may('read_cas', blob.instance)) return 'You may not read the CAS that has the profile.'
  if (blob.digest.sizeBytes > MAX_PACKED_BYTES) return 'The profile is too large to be shown here.'
  visit.request.instanceName = blob.instance
  try {
    const packed = await readBlob(cas, blob.digest, visit.request)
    const isGzip = packed[0] === 0x1f && packed[1] === 0x8b
    const plain = isGzip ? await promisify(gunzip)(packed, { maxOutputLength: MAX_PLAIN_BYTES }) : packed
    return profileIn(JSON.parse(plain.toString())) ?? 'The profile has a form that is not known here.'
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) return 'The profile was not uploaded, or is no longer stored.'
    // What zlib and JSON say of a client's file.
    if (error instanceof SyntaxError || error instanceof RangeError || isZlib(error))
      return 'The profile cannot be read.'
    throw error
  }
}

const isZlib = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^Z_|^ERR_/.test(error.code)

interface TraceEvent {
  readonly ph?: unknown
  readonly name?: unknown
  readonly cat?: unknown
  readonly ts?: unknown
  readonly dur?: unknown
  readonly tid?: unknown
  readonly args?: { readonly name?: unknown }
}

/** The Chrome trace format that Bazel writes. A client may have written anything. */
export const profileIn = (content: unknown): Profile | undefined => {
  const events =
    typeof content === 'object' && content !== null && 'traceEvents' in content ? content.traceEvents : content
  if (!Array.isArray(events)) return undefined
  const names = new Map<number, string>()
  const works: Work[] = []
  for (const event of events as readonly (TraceEvent | null)[]) {
    if (typeof event !== 'object' || event === null) continue
    const { ph, name, cat, ts, dur, tid, args } = event
    if (typeof tid !== 'number' || typeof name !== 'string') continue
    if (ph === 'M' && name === 'thread_name' && typeof args?.name === 'string')
      names.set(tid, args.name.slice(0, MAX_NAME))
    if (ph !== 'X' || typeof ts !== 'number' || typeof dur !== 'number' || !(dur > 0) || !(ts >= 0)) continue
    const kind = typeof cat === 'string' ? cat.slice(0, MAX_NAME) : ''
    works.push({ lane: tid, name: name.slice(0, MAX_NAME), kind, fromMs: ts / 1000, tookMs: dur / 1000 })
  }
  if (works.length === 0) return undefined
  const busyMs = new Map<number, number>()
  for (const { lane, tookMs } of works) busyMs.set(lane, (busyMs.get(lane) ?? 0) + tookMs)
  const lanes = [...busyMs]
    .map(([id, ms]) => ({ id, ms, name: names.get(id) ?? `thread ${id}` }))
    .sort((a, b) => Number(b.name === CRITICAL) - Number(a.name === CRITICAL) || b.ms - a.ms)
    .slice(0, MAX_LANES)
    .map(({ id, name }) => ({ id, name }))
  const shownLanes = new Set(lanes.map(({ id }) => id))
  const shown = works
    .filter(({ lane }) => shownLanes.has(lane))
    .sort((a, b) => b.tookMs - a.tookMs)
    .slice(0, MAX_WORKS)
  const endMs = works.reduce((end, { fromMs, tookMs }) => Math.max(end, fromMs + tookMs), 0)
  return { lanes, works: shown, endMs, leftOut: works.length - shown.length }
}
