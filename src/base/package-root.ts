import { existsSync } from 'node:fs'

const rootAbove = (folder: URL): URL =>
  existsSync(new URL('package.json', folder)) ? folder : rootAbove(new URL('../', folder))

// The depth of this module differs: a source, a part of dist/, and a module that tests load.
const root = rootAbove(new URL('./', import.meta.url))

/** A file or folder of this package, by its path from package.json. */
export const packageFile = (path: string): URL => new URL(path, root)

/** A program for a process or thread of its own, by the path of its source in `src/`: scripts/build.mjs lists it. */
export const programFile = (source: string): URL =>
  packageFile(import.meta.url.endsWith('.ts') ? `src/${source}` : `dist/${source.replace(/ts$/, 'js')}`)
