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

const sendable = ([name, value]: [string, unknown]): [string, unknown] => {
  if (value instanceof Error) return [name, stackOf(value.cause instanceof Error ? value.cause : value)]
  return [name, typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : value]
}
