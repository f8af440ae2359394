import { StatusError } from '../../base/status-error.js'
import { Digest } from '../../reapi/digest.js'
import { type DigestFunctionName, digestFunctions } from '../../reapi/digest-function.js'
import type { Visit } from '../page.js'

/** The kinds of blobs that have a page of their own. */
export type BlobKind = 'action' | 'command' | 'directory' | 'tree' | 'file' | 'historical_execute_response'

/**
 * The addresses of bb-browser, which links of other tools have: `{instance/}blobs/{function}/{kind}/{hash}-{size}`, with
 * more behind it for files and trees. bb-portal puts `browser/` before.
 */
export const addressesOf = (kind: BlobKind): RegExp =>
  new RegExp(
    `^(?:browser/)?(?:(?<instance>.+)/)?blobs/(?<name>[a-z0-9_]+)/${kind}/(?<hash>[0-9a-f]+)-(?<size>\\d{1,16})(?:/(?<rest>.*))?$`,
    's',
  )

/** The instance and the digest in an address. INVALID_ARGUMENT if it is no digest. */
export const blobIn = ({ named: { instance = '', name = '', hash = '', size = '' } }: Visit) => {
  const digestFunction = digestFunctions[name.toUpperCase() as DigestFunctionName] as
    | (typeof digestFunctions)[DigestFunctionName]
    | undefined
  if (digestFunction === undefined)
    throw new StatusError('INVALID_ARGUMENT', `${name} is no digest function, expected one such as sha256`)
  return { instance, digest: Digest.parse({ hash, sizeBytes: Number(size) }, digestFunction, 'the address') }
}

/** The address of the page of a blob. */
export const addressOf = (instance: string, kind: BlobKind, digest: Digest, rest = ''): string => {
  const { function: digestFunction, hash, sizeBytes } = digest.content
  const blob = `blobs/${digestFunction.name.toLowerCase()}/${kind}/${hash}-${sizeBytes}/${rest}`
  return instance === '' ? blob : `${instance}/${blob}`
}
