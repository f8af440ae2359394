import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf, inWords } from '../base/errno.js'
import { boundedMap, LANES } from '../work/bounded-map.js'
import type { FoundFile, OnUnreadable } from './found.js'

export type NameParts = Pick<FoundFile, 'form' | 'hash' | 'sizeBytes' | 'digestFunction'>

const AT_A_TIME = 1024

/**
 * The files directly in a folder whose names `parse` knows. A folder that does not exist has none. A file that vanishes
 * meanwhile is left out, because the other cache may still run. So is a file that cannot be looked at, and a folder that
 * cannot be listed: `onUnreadable` gets these.
 */
export async function* listFiles(
  folder: string,
  parse: (name: string) => NameParts | undefined,
  onUnreadable: OnUnreadable,
): AsyncGenerator<FoundFile> {
  let named: (readonly [name: string, parts: NameParts])[] = []
  for await (const name of namesIn(folder, onUnreadable)) {
    const parts = parse(name)
    if (parts !== undefined) named.push([name, parts])
    if (named.length < AT_A_TIME) continue
    yield* await found(folder, named, onUnreadable)
    named = []
  }
  yield* await found(folder, named, onUnreadable)
}

/** The names in a folder; none if it does not exist. */
export async function* namesIn(folder: string, onUnreadable: OnUnreadable): AsyncGenerator<string> {
  try {
    for await (const { name } of await opendir(folder, { bufferSize: AT_A_TIME })) yield name
  } catch (error) {
    report(folder, error, onUnreadable)
  }
}

const found = async (
  folder: string,
  named: readonly (readonly [name: string, parts: NameParts])[],
  onUnreadable: OnUnreadable,
): Promise<FoundFile[]> => {
  const files = await boundedMap(named, LANES, ([name, parts]) => fileAt(join(folder, name), parts, onUnreadable))
  return files.filter((file) => file !== undefined)
}

const fileAt = async (path: string, parts: NameParts, onUnreadable: OnUnreadable): Promise<FoundFile | undefined> => {
  try {
    const stats = await stat(path)
    if (!stats.isFile()) return undefined
    return { path, ...parts, fileBytes: stats.size, usedMs: Math.max(stats.atimeMs, stats.mtimeMs) }
  } catch (error) {
    report(path, error, onUnreadable)
    return undefined
  }
}

const report = (path: string, error: unknown, onUnreadable: OnUnreadable): void => {
  const errno = errnoOf(error)
  if (errno === undefined) throw error
  if (errno !== 'ENOENT') onUnreadable(path, `cannot be looked at: ${inWords(error)}`)
}
