import { readFileSync } from 'node:fs'
import { StatusError } from '../../base/status-error.js'
import { statsOf } from '../disk/inside-root.js'

const MAX_BYTES = 65_536

/**
 * A wrapper may report in a JSON file why it ended the command. The only valid content is `{"failure": "timeout"}`; INTERNAL for
 * another one. Undefined if it wrote nothing.
 */
export const failureAt = (path: string): 'timeout' | undefined => {
  const stats = statsOf(path)
  if (stats === undefined || stats.size === 0) return undefined
  const text = stats.isFile() && stats.size < MAX_BYTES ? readFileSync(path, 'utf8') : ''
  if (failureIn(text) === 'timeout') return 'timeout'
  throw new StatusError('INTERNAL', 'the side channel file of the action does not contain {"failure": "timeout"}')
}

const failureIn = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'failure' in value ? value.failure : undefined
  } catch {
    // Not JSON: the caller reports the invalid content.
    return undefined
  }
}
