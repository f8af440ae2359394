import type { Test } from 'tap'

/**
 * A folder for a store or a server that a teardown closes. tap removes the folder of a test before it runs the teardowns,
 * unless a teardown came first: then what still writes finds no folder, or the folder is not empty when it is removed.
 */
export const folderOf = (t: Test): string => {
  t.teardown(() => {})
  return t.testdir()
}
