import type { LogFields } from '../../log/log.js'

/** The digest, resource or operation that a request names, for the call's log line. */
export const subjectFields = (request: object | undefined): LogFields => {
  if (request === undefined) return {}
  const { actionDigest, resourceName, name } = request as Readonly<Record<string, unknown>>
  if (isDigest(actionDigest)) return { digest: `${actionDigest.hash}/${actionDigest.sizeBytes}` }
  if (typeof resourceName === 'string' && resourceName !== '') return { resource: resourceName }
  return typeof name === 'string' && name !== '' ? { operation: name } : {}
}

const isDigest = (value: unknown): value is { readonly hash: unknown; readonly sizeBytes: unknown } =>
  typeof value === 'object' && value !== null && 'hash' in value && 'sizeBytes' in value

/** Empty for messages that name none. */
export const instanceNameOf = (request: unknown): string =>
  typeof request === 'object' &&
  request !== null &&
  'instanceName' in request &&
  typeof request.instanceName === 'string'
    ? request.instanceName
    : ''

/** Text fields of the log line as span attributes. */
export const attributesOf = (fields: LogFields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (typeof value === 'string' ? [[`remexec.${name}`, value]] : [])),
  )
