import { existsSync } from 'node:fs'
import { serviceDefinition } from '../proto/service-definition.js'

type Fields = { readonly [field: string]: unknown }

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isListOf = (value: unknown, holds: (each: unknown) => boolean): value is readonly unknown[] =>
  Array.isArray(value) && value.every(holds)

const isText = (value: unknown): boolean => typeof value === 'string'

/** The required fields of a session's head, and their types. */
const HEAD: readonly (readonly [field: string, expected: string, holds: (value: unknown) => boolean])[] = [
  ['client', 'text', isText],
  ['origin', "'recorded' or 'written'", (value) => value === 'recorded' || value === 'written'],
  ['summary', 'text', isText],
  ['level', "'must', 'should', 'de facto' or 'may'", (value) => LEVELS.has(String(value))],
  ['needs', 'a list of texts', (value) => isListOf(value, isText)],
  ['instanceName', 'text', isText],
  ['calls', 'a list of calls', (value) => isListOf(value, isFields)],
  ['blobs', 'an object of blobs', isFields],
]
const LEVELS: ReadonlySet<string> = new Set(['must', 'should', 'de facto', 'may'])
const SOURCES = ['text', 'base64', 'file', 'repeat', 'joined', 'message'] as const

/** The first fault of a parsed session; undefined if there is none. `folder` holds its blobs. */
export const faultOf = (session: unknown, folder: string): string | undefined => {
  if (!isFields(session)) return 'expected an object'
  if (session['format'] !== 1) return `format ${session['format']}, expected 1`
  const field = HEAD.find(([name, , holds]) => !holds(session[name]))
  if (field !== undefined) return `${field[0]}: expected ${field[1]}`
  const known = new Set<unknown>()
  for (const call of session['calls'] as readonly Fields[]) {
    const fault = faultOfCall(call, known)
    if (fault !== undefined) return `call ${call['id']}${fault}`
    known.add(call['id'])
  }
  const blobs = { ...(session['blobs'] as Fields), ...(session['expected'] as Fields | undefined) }
  for (const [digest, source] of Object.entries(blobs)) {
    if (!isFields(source) || !SOURCES.some((kind) => kind in source)) {
      return `the blob ${digest}: expected ${SOURCES.join(', ')}`
    }
    if ('file' in source && !existsSync(`${folder}/blobs/${source['file']}`))
      return `blobs/${source['file']} is missing`
  }
  return undefined
}

const faultOfCall = ({ id, method, after, messages, end }: Fields, known: ReadonlySet<unknown>): string | undefined => {
  if (typeof id !== 'number') return ': expected a number as its id'
  if (!isMethod(method)) return `: ${method} is no method of the protocols`
  if (!isListOf(after, (each) => typeof each === 'number')) return '.after: expected a list of numbers'
  const unknown = after.find((each) => !known.has(each))
  if (unknown !== undefined) return ` comes after call ${unknown}, which is no earlier call`
  if (!isListOf(messages, isMessage)) return ".messages: expected a list of ['>' or '<', milliseconds, message]"
  if (!isFields(end) || !isText(end['code'])) return '.end: expected { code }'
  return undefined
}

const isMessage = (message: unknown): boolean =>
  Array.isArray(message) && /^[<>]$/.test(message[0]) && typeof message[1] === 'number' && message.length === 3

const methods = new Map<unknown, boolean>()

const isMethod = (method: unknown): boolean => {
  const known = methods.get(method) ?? isDefined(String(method))
  methods.set(method, known)
  return known
}

const isDefined = (method: string): boolean => {
  const [service = '', name] = method.split('/')
  try {
    return serviceDefinition(service).methods.some((each) => each.name === name)
  } catch {
    // The method belongs to a service that protos/ does not declare.
    return false
  }
}
