import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf } from '../base/errno.js'
import { boundedMap, LANES } from '../work/bounded-map.js'
import type { FoundFile } from './found.js'

export type NameParts = Pick<FoundFile, 'form' | 'hash' | 'sizeBytes' | 'digestFunction'>

const AT_A_TIME = 1024

/**
 * The files directly in a folder whose names `parse` knows. A folder that does not exist has none. A file that vanishes
 * meanwhile is left out, because the other cache may still run.
 */
export async function* listFiles(
  folder: string,
  parse: (name: string) => NameParts | undefined,
): AsyncGenerator<FoundFile> {
  let named: (readonly [name: string, parts: NameParts])[] = []
  for await (const name of namesIn(folder)) {
    const parts = parse(name)
    if (parts !== undefined) named.push([name, parts])
    if (named.length < AT_A_TIME) continue
    yield* await found(folder, named)
    named = []
  }
  yield* await found(folder, named)
}

/** The names in a folder; none if it does not exist. */
export async function* namesIn(folder: string): AsyncGenerator<string> {
  try {
    for await (const { name } of await opendir(folder, { bufferSize: AT_A_TIME })) yield name
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

const found = async (
  folder: string,
  named: readonly (readonly [name: string, parts: NameParts])[],
): Promise<FoundFile[]> => {
  const files = await boundedMap(named, LANES, ([name, parts]) => fileAt(join(folder, name), parts))
  return files.filter((file) => file !== undefined)
}

const fileAt = async (path: string, parts: NameParts): Promise<FoundFile | undefined> => {
  try {
    const stats = await stat(path)
    if (!stats.isFile()) return undefined
    return { path, ...parts, fileBytes: stats.size, usedMs: Math.max(stats.atimeMs, stats.mtimeMs) }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}
