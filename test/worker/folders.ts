import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** A folder of the test's own, because `t.testdir` cannot remove directories without permissions. */
export const makeDirectory = (t: Test, beside = tmpdir()): string => {
  const directory = mkdtempSync(join(beside, 'remexec-test-'))
  t.teardown(() => {
    unlock(directory)
    rmSync(directory, { recursive: true, force: true })
  })
  return directory
}

const unlock = (directory: string): void => {
  chmodSync(directory, 0o700)
  for (const entry of readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory()) unlock(join(directory, entry.name))
}

export const makeBelow = (directory: string, name: string): string => {
  mkdirSync(join(directory, name))
  return join(directory, name)
}

/** What is in a folder that its owner may not list either, as that of all actions is. */
export const listed = (folder: string): readonly string[] => {
  const { mode } = statSync(folder)
  chmodSync(folder, 0o700)
  try {
    return readdirSync(folder)
  } finally {
    chmodSync(folder, mode)
  }
}
