import { StatusError } from '../base/status-error.js'

const PART = 'operations/'

/**
 * `{instance name}/operations/{scheduler}/{id}`; without an instance name it starts with `operations/`, as
 * resource names do.
 */
export const operationName = (instanceName: string, id: string): string =>
  instanceName === '' ? `${PART}${id}` : `${instanceName}/${PART}${id}`

/** The last part of a name, which only its client knows. */
export const idOfOperation = (name: string): string => name.slice(name.lastIndexOf('/') + 1)

/**
 * The instance of an operation. No segment of an instance name can be `operations`, so the name is sufficient
 * (WaitExecution has nothing else). Throws NOT_FOUND for other names, so that clients send Execute again.
 */
export const instanceOfOperation = (name: string): string => {
  const match = /^(?:(.*[^/])\/)?operations\/[^/]+(?:\/[^/]+)?$/s.exec(name)
  if (match === null) throw unknownOperation(name)
  return match[1] ?? ''
}

/** The instance of a ListOperations request: its name, with or without `/operations`. */
export const instanceOfOperations = (name: string): string =>
  name === 'operations' ? '' : name.replace(/\/operations$/, '')

export const unknownOperation = (name: string): StatusError => {
  const shown = JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}...` : name)
  return new StatusError('NOT_FOUND', `operation ${shown} is not known here: it never was, has expired, or was deleted`)
}
