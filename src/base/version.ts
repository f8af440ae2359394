import { readFileSync } from 'node:fs'
import { packageFile } from './package-root.js'

/** The version of the package that this process runs. */
export const version = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
  return String((manifest as { version: unknown }).version)
}
