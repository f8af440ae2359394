import { mkdirSync } from 'node:fs'
import { OpenDirectory } from '../../../src/worker/disk/open-directory.js'

/** Nests directories so deep that the path of the last exceeds the maximum length. */
export const nestDeep = (path: string): void => deepest(path, 200, 'x'.repeat(50)).close()

/** Nests `levels` directories of the same name. Returns the last one; the caller closes it. */
export const deepest = (path: string, levels: number, name: string): OpenDirectory => {
  let directory = OpenDirectory.open(path)
  for (let level = 0; level < levels; level++) {
    mkdirSync(directory.below(name))
    const child = directory.child(name)
    directory.close()
    directory = child
  }
  return directory
}
