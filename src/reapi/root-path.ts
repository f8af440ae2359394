import { posix } from 'node:path'
import { StatusError } from '../base/status-error.js'

/**
 * Resolves `path` against `cwd`. The result is relative to the input root, without `.` and `..`; `""` is the
 * input root. Throws INVALID_ARGUMENT that names `field` if the path is absolute or leaves the input root.
 */
export const insideRoot = (cwd: string, path: string, field: string): string => {
  rejectNul(path, field)
  if (path.startsWith('/')) throw invalidText(field, path, 'expected a relative path')
  const normal = posix.join(cwd, path)
  if (normal === '..' || normal.startsWith('../'))
    throw invalidText(field, path, 'expected a path inside the input root')
  if (normal === '.' || normal === './') return ''
  return normal.endsWith('/') ? normal.slice(0, -1) : normal
}

export const rejectNul = (text: string, field: string): void => {
  if (text.includes('\0')) throw invalidText(field, text, 'expected no NUL byte')
}

export const invalidText = (field: string, text: string, expected: string): StatusError =>
  new StatusError('INVALID_ARGUMENT', `${field}: ${quoted(text)} is not valid, ${expected}`)

const quoted = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}...` : text)
