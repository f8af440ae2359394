/** A folder outside the checkout for what a client keeps: Bazel refuses an output base below its own workspace. */
import { chmod, cp, mkdtemp, opendir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Clients write-protect the folders they keep, and only root can empty such a folder. */
const allowRemoval = async (folder: string): Promise<void> => {
  await chmod(folder, 0o755)
  for await (const entry of await opendir(folder)) {
    if (entry.isDirectory()) await allowRemoval(join(folder, entry.name))
  }
}

/** Gone again when the test ends. */
export const scratchFolder = async (t: Test): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'remexec-clients-'))
  t.teardown(async () => {
    await allowRemoval(folder)
    await rm(folder, { recursive: true, force: true })
  })
  return folder
}

/** A copy of one of the fixtures, whose sources a test may change. */
export const copyFixture = async (name: string, folder: string): Promise<string> => {
  const copy = join(folder, name)
  await cp(join(root, 'fixtures', name), copy, {
    recursive: true,
    filter: (source) => !/\/bazel-[^/]+$/.test(source),
  })
  return copy
}
