import { readFileSync } from 'node:fs'

/** The version of the package that this process runs. */
export const version = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return String((manifest as { version: unknown }).version)
}
