import protobuf from 'protobufjs/light.js'
import type { Any } from '../../wire/methods.js'
import { isAny, unpacked } from './fields.js'

/** `beside` is the message as it is now. */
type Weaker = (before: Any, after: Any, beside: Any) => boolean

const some: Weaker = (before, after) => after.every((each: Any) => before.includes(each))
const off: Weaker = (before, after) => before && !after
/** A bound of 0 is none. */
const lowerBound: Weaker = (before, after) => after > 0 && (before === 0 || after < before)
const nothing: Weaker = (_, after) => after === null
const narrower: Weaker = (before, after) =>
  after.every((range: Any) =>
    before.some((whole: Any) => whole.minPriority <= range.minPriority && range.maxPriority <= whole.maxPriority),
  )
const isBelow = (a: Any, b: Any): boolean => a.major < b.major || (a.major === b.major && a.minor < b.minor)
const earlier: Weaker = (before, after, { lowApiVersion }) =>
  before !== null && after !== null && isBelow(after, before) && !isBelow(after, lowApiVersion)
const later: Weaker = (before, after, { highApiVersion }) =>
  before !== null && after !== null && isBelow(before, after) && !isBelow(highApiVersion, after)

/** What of the capabilities can promise less and stay true. */
const PROMISES: Readonly<Record<string, Weaker>> = {
  'CacheCapabilities.supportedCompressors': some,
  'CacheCapabilities.supportedBatchUpdateCompressors': some,
  'CacheCapabilities.maxBatchTotalSizeBytes': lowerBound,
  'CacheCapabilities.maxCasBlobSizeBytes': lowerBound,
  'CacheCapabilities.splitBlobSupport': off,
  'CacheCapabilities.spliceBlobSupport': off,
  'CacheCapabilities.cachePriorityCapabilities': nothing,
  'ExecutionCapabilities.executionPriorityCapabilities': nothing,
  'ExecutionCapabilities.supportedNodeProperties': some,
  'PriorityCapabilities.priorities': narrower,
  'ServerCapabilities.highApiVersion': earlier,
  'ServerCapabilities.lowApiVersion': later,
}

/** Copies that a server may leave out: what they are copies of stands beside them. */
const COPIES: Readonly<Record<string, Weaker>> = {
  'ActionResult.stdoutRaw': (_, after, { stdoutDigest }) => after.length === 0 && stdoutDigest !== null,
  'ActionResult.stderrRaw': (_, after, { stderrDigest }) => after.length === 0 && stderrDigest !== null,
  'OutputFile.contents': (_, after, { digest }) => after.length === 0 && digest !== null,
  'OutputDirectory.rootDirectoryDigest': (_, after, { treeDigest }) => after === null && treeDigest !== null,
}

/** Whether all that these ServerCapabilities promise was promised `before` too. */
export const promisesLess = (type: protobuf.Type, before: Any, after: Any): boolean =>
  isLess(type, before, after, PROMISES)

/** Whether nothing was done to a message but that copies were left out. */
export const leavesOutCopies = (type: protobuf.Type, before: Any, after: Any): boolean =>
  isLess(type, before, after, COPIES)

const isLess = (type: protobuf.Type, before: Any, after: Any, weaker: Readonly<Record<string, Weaker>>): boolean => {
  const [was, is] = isAny(type) ? [unpacked(before), unpacked(after)] : []
  if (was && is) return was.type === is.type && isLess(was.type, was.message, is.message, weaker)
  return type.fieldsArray.every((field) => {
    const [was, is] = [before[field.name], after[field.name]]
    if (JSON.stringify(was) === JSON.stringify(is)) return true
    if (weaker[`${type.name}.${field.name}`]?.(was, is, after)) return true
    const inner = field.resolvedType
    if (!(inner instanceof protobuf.Type) || field.map || was === null || is === null) return false
    if (!field.repeated) return isLess(inner, was, is, weaker)
    return was.length === is.length && was.every((each: Any, at: number) => isLess(inner, each, is[at], weaker))
  })
}
