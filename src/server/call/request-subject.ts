import type { LogFields } from '../../log/log.js'

/** What a request is about, for the line of its call in the log: the digest, resource or operation that it names. */
export const subjectFields = (request: object | undefined): LogFields => {
  if (request === undefined) return {}
  const { actionDigest, resourceName, name } = request as Readonly<Record<string, unknown>>
  if (isDigest(actionDigest)) return { digest: `${actionDigest.hash}/${actionDigest.sizeBytes}` }
  if (typeof resourceName === 'string' && resourceName !== '') return { resource: resourceName }
  return typeof name === 'string' && name !== '' ? { operation: name } : {}
}

const isDigest = (value: unknown): value is { readonly hash: unknown; readonly sizeBytes: unknown } =>
  typeof value === 'object' && value !== null && 'hash' in value && 'sizeBytes' in value
