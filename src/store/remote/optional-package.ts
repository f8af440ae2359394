import { readFileSync } from 'node:fs'
import { StatusError } from '../../base/status-error.js'

const manifest = new URL('../../../package.json', import.meta.url)

/**
 * The client library of a backend, which only configurations with that backend need: loaded when one is built, by the one
 * file that imports it. Not installed, it is a start error that says what to install.
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

/** A package that is there and lacks one of its own is broken, which is another matter. */
const isMissing = (error: unknown, name: string): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === 'ERR_MODULE_NOT_FOUND' &&
  error.message.includes(`'${name}'`)

const versionOf = (name: string): string => {
  const { peerDependencies } = JSON.parse(readFileSync(manifest, 'utf8'))
  return peerDependencies[name]
}
