import protobuf from 'protobufjs/light.js'
import type { Any } from '../../wire/methods.js'
import { entriesOf, isAny, isMany, typeOf, unpacked } from './fields.js'
import { leavesOutCopies, promisesLess } from './less.js'

/** One way for two answers to differ in their bytes and to say the same. Applied to each answer when it is changed, before any check. */
export interface Rule {
  readonly name: string
  readonly reason: string
}

const rule = (name: string, reason: string): Rule => ({ name, reason })

const ORDER = rule(
  'order',
  'lists whose order no text gives a meaning: sets of digests, answers told apart by their digest, names',
)
const TWICE = rule('twice', 'a value listed twice in a set')
const TEXT = rule('text', 'text for people: messages of statuses and errors, descriptions')
const COPY = rule(
  'copy',
  'inlined bytes left out, or a second digest, where the digest that the protocol asks for stands beside',
)
const PROMISE = rule('promise', 'capabilities that promise less than the server does, in all answers alike')

export const RULES: readonly Rule[] = [ORDER, TWICE, TEXT, COPY, PROMISE]

const SETS: ReadonlySet<string> = new Set([
  'CacheCapabilities.digestFunctions',
  'CacheCapabilities.supportedCompressors',
  'CacheCapabilities.supportedBatchUpdateCompressors',
  'ExecutionCapabilities.digestFunctions',
  'ExecutionCapabilities.supportedNodeProperties',
  'PriorityCapabilities.priorities',
  'FileDescriptorResponse.fileDescriptorProto',
  'ListServiceResponse.service',
])

const UNORDERED: ReadonlySet<string> = new Set([
  ...SETS,
  'FindMissingBlobsResponse.missingBlobDigests',
  'BatchUpdateBlobsResponse.responses',
  'BatchReadBlobsResponse.responses',
  'GetTreeResponse.directories',
  'ListOperationsResponse.operations',
  'ActionResult.outputFiles',
  'ActionResult.outputDirectories',
  'ActionResult.outputSymlinks',
  'ActionResult.outputFileSymlinks',
  'ActionResult.outputDirectorySymlinks',
  'ExecutedActionMetadata.auxiliaryMetadata',
  'PreconditionFailure.violations',
  'Status.details',
])

const TEXTS: ReadonlySet<string> = new Set([
  'Status.message',
  'ErrorResponse.errorMessage',
  'ExecuteResponse.message',
  'Violation.description',
])

/** The rule by which both answers say the same; undefined when what they say differs. `isEvery`: all answers were changed. */
export const sameBy = (typeName: string, before: Any, after: Any, isEvery: boolean): Rule | undefined => {
  const type = typeOf(typeName)
  const active = new Set<Rule>()
  for (const each of [ORDER, TWICE, TEXT]) {
    active.add(each)
    if (said(type, before, active) === said(type, after, active)) return each
  }
  if (leavesOutCopies(type, before, after)) return COPY
  return isEvery && type.name === 'ServerCapabilities' && promisesLess(type, before, after) ? PROMISE : undefined
}

/** What a message says, as one text: equal for messages that say the same by these rules. */
const said = (type: protobuf.Type, message: Any, rules: ReadonlySet<Rule>): string => {
  if (isAny(type)) {
    const packed = unpacked(message)
    const inside =
      packed === undefined ? Buffer.from(message.value).toString('base64') : said(packed.type, packed.message, rules)
    return `${message.typeUrl}(${inside})`
  }
  const parts = type.fieldsArray.flatMap((field) => {
    const value = message[field.name]
    const name = `${type.name}.${field.name}`
    if (value === null || value === undefined || isSilent(name, rules)) return []
    const entries = entriesOf(field, value).map((each) => saidOf(field, each, rules))
    return isDefault(field, value) ? [] : [`${field.name}=${listed(name, field, value, entries, rules)}`]
  })
  return `{${parts.join(';')}}`
}

const isSilent = (name: string, rules: ReadonlySet<Rule>): boolean => rules.has(TEXT) && TEXTS.has(name)

const isDefault = (field: protobuf.Field, value: Any): boolean =>
  isMany(field) ? Object.keys(value).length === 0 : value.length === 0 || value === 0 || value === false

const saidOf = (field: protobuf.Field, value: Any, rules: ReadonlySet<Rule>): string => {
  if (field.resolvedType instanceof protobuf.Type) return said(field.resolvedType, value, rules)
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : JSON.stringify(value)
}

const listed = (
  name: string,
  field: protobuf.Field,
  value: Any,
  entries: string[],
  rules: ReadonlySet<Rule>,
): string => {
  if (field.map)
    return Object.keys(value)
      .map((key, at) => `${key}:${entries[at]}`)
      .sort()
      .join(',')
  const kept = rules.has(TWICE) && SETS.has(name) ? [...new Set(entries)] : entries
  return (rules.has(ORDER) && UNORDERED.has(name) ? [...kept].sort() : kept).join(',')
}
