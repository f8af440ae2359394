import { holds, pack, unpack } from '../proto/any.js'
import { codec } from '../proto/codec.js'
import { Fields, writeFieldHead } from '../proto/fields.js'
import type { ActionResult } from '../proto/generated/build.bazel.remote.execution.v2.js'

const originCodec = codec('remexec.scheduler.v1.ResultOrigin')
const processCodec = codec('remexec.worker.v1.PersistentWorker')
const metadataCodec = codec('build.bazel.remote.execution.v2.ExecutedActionMetadata')

/** The origin of a result, as recorded in `ExecutedActionMetadata.auxiliary_metadata`. */
export interface ResultOrigin {
  /** Identity of the first caller that requested the run, or of the caller that uploaded the result: `token ci`. */
  readonly identity: string
  /** Empty if a client uploaded the result. */
  readonly workerId?: string
  readonly workerIdentity?: string
  /** Of the caller; empty if it is trusted. */
  readonly scope?: string
  /** Whether the run could change nothing but its outputs, and had no network. */
  readonly isConfined?: boolean
  /** When it was stored; 0 if that is not known. */
  readonly storedMs?: number
  /** The persistent worker process, as its worker says; empty if the command had a process of its own. */
  readonly process?: string
  /** Which request of that process it was, from 1. */
  readonly processRequest?: number
}

export const packedOrigin = (origin: ResultOrigin): { readonly typeUrl: string; readonly value: Buffer } =>
  pack(originCodec, origin)

const isOrigin = (any: { readonly typeUrl: string }): boolean => holds(any, originCodec)

/** The origin that a result records, if any. */
export const originOf = ({ executionMetadata }: ActionResult): ResultOrigin | undefined => {
  const packed = executionMetadata?.auxiliaryMetadata.find(isOrigin)
  return packed && unpack(originCodec, packed)
}

/** The part of an origin that the worker tells: which persistent worker ran it, if one did. */
export const processOf = ({ executionMetadata }: ActionResult): Pick<ResultOrigin, 'process' | 'processRequest'> => {
  const packed = executionMetadata?.auxiliaryMetadata.find((any) => holds(any, processCodec))
  if (packed === undefined) return {}
  const { process, request } = unpack(processCodec, packed)
  return { process, processRequest: request }
}

/** A packed origin with that part. */
export const withProcess = (
  packed: { readonly typeUrl: string; readonly value: Buffer },
  process: { readonly id: string; readonly request: number } | undefined,
): { readonly typeUrl: string; readonly value: Buffer } =>
  process === undefined || !isOrigin(packed)
    ? packed
    : packedOrigin({ ...unpack(originCodec, packed), process: process.id, processRequest: process.request })

/** Replaces the origin that a result records; undefined removes it. */
export const setOrigin = (result: ActionResult, origin: ResultOrigin | undefined): void => {
  const others = result.executionMetadata?.auxiliaryMetadata.filter((any) => !isOrigin(any)) ?? []
  if (origin !== undefined) {
    result.executionMetadata ??= metadataCodec.decode(NOTHING)
    others.push(packedOrigin(origin))
  }
  if (result.executionMetadata !== null) result.executionMetadata.auxiliaryMetadata = others
}

/** The result without its origin, for callers that must not see it. Returns a copy, because results are shared. */
export const withoutOrigin = (result: ActionResult): ActionResult => {
  const { executionMetadata } = result
  if (executionMetadata === null || !executionMetadata.auxiliaryMetadata.some(isOrigin)) return result
  const auxiliaryMetadata = executionMetadata.auxiliaryMetadata.filter((any) => !isOrigin(any))
  return { ...result, executionMetadata: { ...executionMetadata, auxiliaryMetadata } }
}

const RESULT = 'build.bazel.remote.execution.v2.ActionResult'
const EXECUTION_METADATA = 9
const AUXILIARY_METADATA = 11
const TYPE_URL = 1

const ORIGIN_NAME = Buffer.from(originCodec.typeName)

/** `withoutOrigin` of an encoded result. Returns `encoded` itself if it records no origin. */
export const withoutEncodedOrigin = (encoded: Buffer): Buffer => {
  if (!encoded.includes(ORIGIN_NAME)) return encoded
  // Large enough, because no length that is written is longer than before.
  const out = Buffer.allocUnsafe(encoded.length)
  const fields = new Fields(encoded, RESULT)
  let copied = 0
  let length = 0
  while (fields.next()) {
    if (fields.number !== EXECUTION_METADATA) continue
    const { ranges, sizeBytes } = withoutOrigins(encoded, fields.from, fields.to)
    length += encoded.copy(out, length, copied, fields.start)
    length = writeFieldHead(out, length, EXECUTION_METADATA, sizeBytes)
    for (const { from, to } of ranges) length += encoded.copy(out, length, from, to)
    copied = fields.to
  }
  length += encoded.copy(out, length, copied)
  return out.subarray(0, length)
}

/** The parts of encoded metadata that are no origin. */
const withoutOrigins = (encoded: Buffer, start: number, end: number) => {
  const ranges: { readonly from: number; readonly to: number }[] = []
  const fields = new Fields(encoded, metadataCodec.typeName, start, end)
  let from = start
  let sizeBytes = end - start
  while (fields.next()) {
    if (fields.number !== AUXILIARY_METADATA || !isEncodedOrigin(encoded, fields.from, fields.to)) continue
    ranges.push({ from, to: fields.start })
    sizeBytes -= fields.to - fields.start
    from = fields.to
  }
  ranges.push({ from, to: end })
  return { ranges, sizeBytes }
}

const isEncodedOrigin = (encoded: Buffer, from: number, to: number): boolean => {
  const fields = new Fields(encoded, 'google.protobuf.Any', from, to)
  let typeUrl = ''
  while (fields.next()) if (fields.number === TYPE_URL) typeUrl = encoded.toString('utf8', fields.from, fields.to)
  return isOrigin({ typeUrl })
}

const NOTHING = Buffer.alloc(0)
