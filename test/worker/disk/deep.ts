import { mkdirSync } from 'node:fs'
import { OpenDirectory } from '../../../src/worker/disk/open-directory.js'

/** Nests directories so deep that no path leads to the last: 200 names of 50 characters. */
export const nestDeep = (path: string): void => {
  let directory = OpenDirectory.open(path)
  for (let level = 0; level < 200; level++) {
    mkdirSync(directory.below('x'.repeat(50)))
    const child = directory.child('x'.repeat(50))
    directory.close()
    directory = child
  }
  directory.close()
}
