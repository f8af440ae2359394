import {
  type DocumentNode,
  type MemberNode,
  type ObjectNode,
  parse as parseWithPositions,
  type ValueNode,
} from '@humanwhocodes/momoa'
import JSON5 from 'json5'
import { isFloatLiteral } from '../value/scalar.js'
import { otherServerOf } from './other-server.js'
import { type Path, pathKey } from './path.js'

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

export interface Position {
  readonly line: number
  readonly column: number
}

interface NodePositions {
  readonly value: Position
  readonly key?: Position
  readonly isFloatLiteral?: boolean
}

/** The text is not valid JSON5. `position` is where parsing stopped. */
export class DocumentSyntaxError extends Error {
  override readonly name = 'DocumentSyntaxError'
  readonly position: Position

  constructor(message: string, position: Position) {
    super(message)
    this.position = position
  }
}

/** A parsed JSON5 text with the position of every value. Members with the value null count as absent. */
export class Document {
  readonly root: JsonValue
  /** Keys that occur twice in one object; the last one counts. */
  readonly repeatedKeys: readonly Path[]
  readonly #positions: ReadonlyMap<string, NodePositions>

  /** @throws DocumentSyntaxError */
  constructor(text: string) {
    const reader = new TreeReader(text)
    this.root = reader.read(parseTree(text).body, [])
    this.repeatedKeys = reader.repeatedKeys
    this.#positions = reader.positions
  }

  /** Position of the value at `path`. If it does not exist, the position of the nearest enclosing value. */
  positionOf(path: Path, part: 'key' | 'value' = 'value'): Position {
    const found = this.#positions.get(pathKey(path))
    if (found) return (part === 'key' ? found.key : undefined) ?? found.value
    return path.length === 0 ? { line: 1, column: 1 } : this.positionOf(path.slice(0, -1))
  }

  has(path: Path): boolean {
    return this.#positions.has(pathKey(path))
  }

  isFloatLiteral(path: Path): boolean {
    return this.#positions.get(pathKey(path))?.isFloatLiteral === true
  }
}

/** json5 decides whether the text is valid and words the error; momoa supplies the positions. */
const parseTree = (text: string): DocumentNode => {
  try {
    JSON5.parse(text)
    return parseWithPositions(text, { mode: 'json5', ranges: true })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const { lineNumber, columnNumber, line, column } = error as ErrorPosition
    const message = error.message.replace(/^JSON5: /, '').replace(/ (?:at \d+:\d+|\(\d+:\d+\))$/, '')
    // json5 reports a line break as column 0 of the next line.
    const position = { line: lineNumber ?? line ?? 1, column: Math.max(1, columnNumber ?? column ?? 1) }
    throw new DocumentSyntaxError(`${message}${causeOf(text, position)}`, position)
  }
}

/** The probable cause of a syntax error, as a suffix to the message; empty if there is none. */
const causeOf = (text: string, { line, column }: Position): string => {
  const other = otherServerOf(text)
  if (other !== undefined) return `; ${other}`
  if (/^\s*(?:(?:#.*|---)\s*)*[\w-]+:(?:\s|$)/.test(text))
    return '; it looks like YAML, expected JSON5, which begins with {'
  const lines = text.split('\n')
  const here = (lines[line - 1] ?? '').slice(column - 1)
  const before = [...lines.slice(0, line - 1), (lines[line - 1] ?? '').slice(0, column - 1)]
    .map((one) => one.replace(/\/\/.*/, ''))
    .join('\n')
  const followsValue = /["'}\]\w]\s*(?:\/\*(?:[^*]|\*(?!\/))*\*\/\s*)*$/.test(before)
  return followsValue && /^["'{[\w$-]/.test(here) ? '; a comma is missing before it' : ''
}

interface ErrorPosition extends Error {
  readonly lineNumber?: number
  readonly columnNumber?: number
  readonly line?: number
  readonly column?: number
}

class TreeReader {
  readonly positions = new Map<string, NodePositions>()
  readonly repeatedKeys: Path[] = []
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  read(node: ValueNode, path: Path, key?: Position): JsonValue {
    this.positions.set(pathKey(path), {
      value: positionOf(node),
      ...(key && { key }),
      isFloatLiteral: node.type === 'Number' && isFloatLiteral(this.#sourceOf(node)),
    })
    switch (node.type) {
      case 'Object':
        return this.#object(node, path)
      case 'Array':
        return node.elements.map((element, index) => this.read(element.value, [...path, index]))
      case 'Null':
        return null
      case 'NaN':
        return Number.NaN
      case 'Infinity':
        return node.sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
      default:
        return node.value
    }
  }

  #object(node: ObjectNode, path: Path): JsonObject {
    const entries = new Map<string, JsonValue>()
    for (const member of node.members as MemberNode[]) {
      const name = member.name.type === 'String' ? member.name.value : member.name.name
      const memberPath = [...path, name]
      if (entries.has(name)) this.repeatedKeys.push(memberPath)
      const value = this.read(member.value, memberPath, positionOf(member.name))
      if (value === null) entries.delete(name)
      else entries.set(name, value)
    }
    return Object.fromEntries(entries)
  }

  #sourceOf(node: ValueNode): string {
    return node.range ? this.#text.slice(...node.range) : ''
  }
}

const positionOf = ({ loc }: { loc: { start: Position } }): Position => ({
  line: loc.start.line,
  column: loc.start.column,
})
