import { existsSync } from 'node:fs'

/** The folder of the package.json above `folder`. Throws if there is none up to `/`, as in a bundle of one file. */
export const rootAbove = (folder: URL): URL => {
  for (let at = folder; ; at = new URL('../', at)) {
    if (existsSync(new URL('package.json', at))) return at
    if (at.pathname === new URL('../', at).pathname) {
      const advice = 'keep dist/ in the folder of the package, with schema/ and protos/: remexec is no single file'
      throw new Error(`found no package.json in ${folder.pathname} or above it, which remexec needs; ${advice}`)
    }
  }
}

// The depth of this module differs: a source, a part of dist/, and a module that tests load.
const root = rootAbove(new URL('./', import.meta.url))

/** A file or folder of this package, by its path from package.json. */
export const packageFile = (path: string): URL => new URL(path, root)

/** A program for a process or thread of its own, by the path of its source in `src/`: scripts/build.mjs lists it. */
export const programFile = (source: string): URL =>
  packageFile(import.meta.url.endsWith('.ts') ? `src/${source}` : `dist/${source.replace(/ts$/, 'js')}`)
