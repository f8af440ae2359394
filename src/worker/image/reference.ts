import { StatusError } from '../../base/status-error.js'

/** An image by the host of its registry, its name there, and the digest or the tag of its manifest. */
export interface ImageReference {
  /** `host` or `host:port`. */
  readonly registry: string
  readonly repository: string
  /** Undefined if only a digest is given. */
  readonly tag: string | undefined
  /** `sha256:` and 64 hexadecimal digits; undefined if only a tag is given. */
  readonly digest: string | undefined
}

const MAX_LENGTH = 512
const MAX_SHOWN = 200
const SCHEME = 'docker://'
const HOST = /^(?:\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?)(?::\d{1,5})?$/
const REPOSITORY = /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
const DIGEST = /^sha256:[0-9a-f]{64}$/

/** The registry of names without a host, as in every tool of containers. */
const DEFAULT_REGISTRY = 'docker.io'

/**
 * Parses `docker://HOST/NAME@sha256:…`, `docker://HOST/NAME:TAG` or both; the scheme and the host may be left out. INVALID_ARGUMENT for
 * other texts.
 */
export const imageReference = (text: string): ImageReference => {
  const plain = text.startsWith(SCHEME) ? text.slice(SCHEME.length) : text
  if (plain.length > MAX_LENGTH) throw malformed(text)
  const [named = '', digest, ...rest] = plain.split('@')
  const slash = named.indexOf('/')
  const first = named.slice(0, Math.max(0, slash))
  const hasHost = /[.:[]/.test(first) || first === 'localhost'
  const registry = hasHost ? first : DEFAULT_REGISTRY
  const path = hasHost ? named.slice(slash + 1) : named
  const colon = path.indexOf(':')
  const name = colon < 0 ? path : path.slice(0, colon)
  const tag = colon < 0 ? undefined : path.slice(colon + 1)
  const isShort = registry === DEFAULT_REGISTRY && !name.includes('/')
  const repository = isShort ? `library/${name}` : name
  const isValid =
    rest.length === 0 &&
    HOST.test(registry) &&
    REPOSITORY.test(repository) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest))
  if (!isValid) throw malformed(text)
  return { registry, repository, tag: digest === undefined ? (tag ?? 'latest') : tag, digest }
}

/** Without the tag, as `skopeo` takes it. */
export const byDigest = ({ registry, repository }: ImageReference, digest: string): string =>
  `${registry}/${repository}@${digest}`

export const byTag = ({ registry, repository, tag = 'latest' }: ImageReference): string =>
  `${registry}/${repository}:${tag}`

const malformed = (text: string): StatusError => {
  const found = JSON.stringify(text.slice(0, MAX_SHOWN))
  const expected = 'docker://HOST/NAME@sha256:… (64 hexadecimal digits) or docker://HOST/NAME:TAG'
  return new StatusError(
    'INVALID_ARGUMENT',
    `platform property container-image: ${found} is not valid, expected ${expected}`,
  )
}
