import { readFileSync } from 'node:fs'
import { packageFile } from '../../base/package-root.js'
import { StatusError } from '../../base/status-error.js'

const manifest = packageFile('package.json')

/**
 * Loads the client library of a backend. Only configurations with that backend need it, so it is loaded when one is
 * built, by the single file that imports it. If it is not installed, the start fails with the command to install it.
 */
export const optionalPackage = async <Module>(name: string, load: () => Promise<Module>): Promise<Module> => {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, name)) throw error
    const wanted = `${name}@${versionOf(name)}`
    const message = `the package ${name} is needed for this and is not installed: npm install ${wanted}`
    throw new StatusError('FAILED_PRECONDITION', message, { cause: error })
  }
}

/** Distinguishes a missing package from an installed one whose own dependency is missing. */
const isMissing = (error: unknown, name: string): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === 'ERR_MODULE_NOT_FOUND' &&
  error.message.includes(`'${name}'`)

const versionOf = (name: string): string => {
  const { peerDependencies } = JSON.parse(readFileSync(manifest, 'utf8'))
  return peerDependencies[name]
}
