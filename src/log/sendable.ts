import { stackOf } from '../base/stack.js'
import type { LogFields, LogLevel } from './log.js'

/** A log line on its way to the thread or process that writes it. */
export interface LoggedLine {
  readonly kind: 'log'
  readonly level: LogLevel
  readonly message: string
  readonly fields: LogFields
}

/** Converts fields to values that a channel can carry and that the receiver's log shows in the same way. */
export const sendableFields = (fields: LogFields): LogFields => Object.fromEntries(Object.entries(fields).map(sendable))

/** A value that cannot be sent would take all other messages of its turn with it. */
const sendable = ([name, value]: [string, unknown]): [string, unknown] => {
  if (value instanceof Error) return [name, stackOf(value.cause instanceof Error ? value.cause : value)]
  if (typeof value === 'function' || typeof value === 'symbol') return [name, String(value)]
  return [name, typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : value]
}
