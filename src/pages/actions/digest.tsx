import { sizeText } from '../../base/quantities.js'
import type { Digest } from '../../reapi/digest.js'
import type { Visit } from '../page.js'
import { addressOf, type BlobKind } from './address.js'

const SHOWN_DIGITS = 12

/** A digest as a link to its page, short: the whole is in its title. */
export const DigestLink = ({
  visit,
  instance,
  kind,
  digest,
}: {
  readonly visit: Visit
  readonly instance: string
  readonly kind: BlobKind
  readonly digest: Digest
}) => (
  <a class="mono" href={visit.to(addressOf(instance, kind, digest))} title={digest.key}>
    {`${digest.hash.slice(0, SHOWN_DIGITS)}…, ${sizeText(digest.sizeBytes)}`}
  </a>
)
