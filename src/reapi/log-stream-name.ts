import { operationName } from './operation-name.js'

/** What a running action prints, as `stdout_stream_name` and `stderr_stream_name` name it. */
export interface LogStreamName {
  readonly instanceName: string
  readonly operation: string
  readonly output: 'stdout' | 'stderr'
}

const PART = 'logstreams'

/** `{instance name/}logstreams/{scheduler}/{id}/stdout`, of the operation `{instance name/}operations/{scheduler}/{id}`. */
export const logStreamName = (
  { instanceName, operation }: Omit<LogStreamName, 'output'>,
  output: LogStreamName['output'],
): string => {
  const prefix = instanceName === '' ? '' : `${instanceName}/`
  const id = operation.slice(prefix.length).split('/').slice(1).join('/')
  return `${prefix}${PART}/${id}/${output}`
}

/**
 * Undefined for other names. Clients of the SDK for Go put `{instance name}/logstreams/` before the name that they were given:
 * that is taken too.
 */
export const logStreamIn = (resourceName: string): LogStreamName | undefined => {
  const segments = (resourceName.startsWith('/') ? resourceName.slice(1) : resourceName).split('/')
  const [part, scheduler, id, output] = segments.slice(-4)
  if (part !== PART || !scheduler || !id || (output !== 'stdout' && output !== 'stderr')) return undefined
  const instanceName = instanceIn(segments.slice(0, -4))
  return { instanceName, operation: operationName(instanceName, `${scheduler}/${id}`), output }
}

const instanceIn = (prefix: readonly string[]): string => {
  if (prefix.length === 1 && prefix[0] === PART) return ''
  const half = (prefix.length - 1) / 2
  const [before, after] = [prefix.slice(0, half).join('/'), prefix.slice(half + 1).join('/')]
  return Number.isInteger(half) && prefix[half] === PART && before === after ? before : prefix.join('/')
}
