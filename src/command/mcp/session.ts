import { codeName, StatusError } from '../../base/status-error.js'
import { type Arguments, type Console, UsageError } from '../command.js'
import { TOOLS, type Tool, toolNamed } from './tools.js'

/** JSON-RPC 2.0. */
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600
const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602

/** Versions of the protocol whose messages for tools are the same. The newest is offered. */
const VERSIONS = ['2025-06-18', '2025-03-26', '2024-11-05'] as const

interface SessionParts {
  readonly args: Arguments
  readonly console: Console
  readonly version: string
}

type Id = string | number

interface Request {
  readonly id: Id | undefined
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

/**
 * A session of the Model Context Protocol that offers tools. It has no state but the protocol's: each question is one for the
 * pages of the server, with the credentials that the command was given.
 */
export class McpSession {
  readonly #parts: SessionParts

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** The answer to a line; undefined for one that wants none. `undefined` is a line that is too long. */
  async answer(line: string | undefined): Promise<object | undefined> {
    if (line?.trim() === '') return undefined
    const message = line === undefined ? undefined : parsed(line)
    if (message === undefined) return failure(null, PARSE_ERROR, 'expected a JSON-RPC message on one line')
    const request = requestIn(message)
    if (request === undefined) return failure(null, INVALID_REQUEST, 'expected a request of JSON-RPC 2.0')
    const { id, method, params } = request
    // Notifications are about things that this session does not have.
    if (id === undefined) return undefined
    if (method === 'initialize') return success(id, this.#initialized(params))
    if (method === 'ping') return success(id, {})
    if (method === 'tools/list') return success(id, { tools: TOOLS.map(listed) })
    if (method === 'tools/call') return this.#called(id, params)
    return failure(
      id,
      METHOD_NOT_FOUND,
      `there is no method ${shown(method)}, expected initialize, tools/list or tools/call`,
    )
  }

  #initialized({ protocolVersion }: Request['params']): object {
    return {
      protocolVersion: VERSIONS.find((one) => one === protocolVersion) ?? VERSIONS[0],
      capabilities: { tools: {} },
      serverInfo: { name: 'remexec', version: this.#parts.version },
      instructions:
        'Answers about builds of a remexec server: which there are, how one went, what failed with its last lines, why an action missed the cache, and why it waits.',
    }
  }

  async #called(id: Id, { name, arguments: given = {} }: Request['params']): Promise<object> {
    const tool = toolNamed(name)
    if (tool === undefined)
      return failure(
        id,
        INVALID_PARAMS,
        `there is no tool ${shown(name)}, expected one of ${TOOLS.map((one) => one.name).join(', ')}`,
      )
    const wrong = wrongArgument(tool, given)
    if (wrong !== undefined) return failure(id, INVALID_PARAMS, wrong)
    try {
      const answer = await tool.ask(given as Readonly<Record<string, string>>, this.#parts.args, this.#parts.console)
      return success(id, {
        content: [{ type: 'text', text: JSON.stringify(answer, null, 1) }],
        structuredContent: answer,
      })
    } catch (error) {
      return success(id, { content: [{ type: 'text', text: wordsOf(error) }], isError: true })
    }
  }
}

/** What the agent is told of a failure: what the server or the arguments lack, and nothing else. */
const wordsOf = (error: unknown): string => {
  if (error instanceof UsageError) return error.message
  const { code, message } = StatusError.from(error)
  return `${codeName(code)}: ${message}`
}

const listed = ({ name, description, input }: Tool): object => ({
  ...{ name, description },
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(input.map((one) => [one.name, { type: 'string', description: one.description }])),
    required: input.filter(({ isRequired }) => isRequired).map((one) => one.name),
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
})

const MAX_ARGUMENT = 2000

const wrongArgument = ({ name: tool, input }: Tool, given: unknown): string | undefined => {
  if (!isObject(given)) return 'expected arguments as an object'
  for (const [name, value] of Object.entries(given)) {
    if (!input.some((one) => one.name === name)) return `${tool} has no argument ${shown(name)}`
    if (typeof value !== 'string' || value.length > MAX_ARGUMENT)
      return `${name}: expected a text of at most ${MAX_ARGUMENT} characters`
  }
  const missing = input.find(({ name, isRequired }) => isRequired && !(name in given))
  return missing && `${tool} needs the argument ${missing.name}`
}

const success = (id: Id, result: object): object => ({ jsonrpc: '2.0', id, result })

const failure = (id: Id | null, code: number, message: string): object => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line) as unknown
  } catch {
    return undefined
  }
}

const requestIn = (message: unknown): Request | undefined => {
  if (!isObject(message) || message['jsonrpc'] !== '2.0' || typeof message['method'] !== 'string') return undefined
  const { id, method, params = {} } = message
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number') return undefined
  return isObject(params) ? { id, method, params } : undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 100)
