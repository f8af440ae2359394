import { posix } from 'node:path'
import { insideRoot, invalidText } from './root-path.js'

/**
 * The one rule for paths of outputs, in Commands and in results, so that the result of every action can be cached: relative, with a
 * single slash between segments and none at the end (REAPI, Command.output_paths), and `..` only at the beginning. `a/../b` is another
 * file than `b` if `a` is a symlink, and clients that compare paths as text take them for two. `.` may be a segment. Returns the path relative to
 * the input root; INVALID_ARGUMENT names `field`.
 */
export const outputPath = (cwd: string, path: string, field: string): string => {
  if (path.startsWith('/')) throw invalidText(field, path, 'expected a relative path')
  if (path.endsWith('/')) throw invalidText(field, path, 'expected no slash at the end')
  const segments = path === '' ? [] : path.split('/')
  if (segments.includes('')) throw invalidText(field, path, 'expected a single slash between its segments')
  if (segments.some((name, index) => name === '..' && index > 0 && segments[index - 1] !== '..'))
    throw invalidText(field, path, 'expected ".." only at its beginning')
  return insideRoot(cwd, path, field)
}

/** Whether an output path means the working directory itself, which only a directory can be. */
export const isWorkingDirectory = (path: string): boolean => posix.normalize(path) === '.'
