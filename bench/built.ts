import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './server/process.js'

/**
 * A compiled module of src/, or of the other build whose dist/cli.js is given. tsx names every closure at run time, which adds a tenth to
 * a sixth of a small call's CPU. `npm run bench` compiles the modules of its own checkout.
 */
export const built = <M>(path: string, cli = 'dist/cli.js'): Promise<M> => {
  const dist = dirname(resolve(root, cli))
  // Older builds have the modules in dist/.
  const places = [`${dist}/../.built/src/${path}`, `${dist}/${path}`]
  const module = places.find((place) => existsSync(place))
  if (module === undefined)
    throw new Error(`${resolve(places[0] ?? '')} is not there: node scripts/prepare.mjs makes it`)
  return import(pathToFileURL(resolve(module)).href)
}
