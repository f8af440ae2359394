import type { Digest } from '../../reapi/digest.js'

const ACTION_DIGITS = 12
const BUILD_DIGITS = 8

/** The short address of an action of a build; undefined if the id of the build is no usual one. */
export const shortAddress = ({ hash }: Digest, invocation: string): string | undefined => {
  const build = invocation.slice(0, BUILD_DIGITS)
  return /^[0-9a-f]{8}$/.test(build) ? `a/${hash.slice(0, ACTION_DIGITS)}.${build}` : undefined
}
