import { Digest, type DigestMessage, resolveDigestFunction } from '../reapi/digest.js'
import type { DigestFunction } from '../reapi/digest-function.js'

interface Functions {
  /** The request's digest_function; 0 when unset. */
  readonly value: number
  readonly served: readonly DigestFunction[]
}

/** One digest of a request; `what` names its field. */
export const requestDigest = (message: DigestMessage | null, { value, served }: Functions, what: string): Digest =>
  Digest.parse(message, resolveDigestFunction(value, message?.hash || undefined, served), what)

/** Every digest of a request, all of one function (REAPI: a request mixes none); `what` names the repeated field. */
export const requestDigests = (
  messages: readonly (DigestMessage | null)[],
  { value, served }: Functions,
  what: string,
): Digest[] => {
  const digestFunction = resolveDigestFunction(value, messages[0]?.hash || undefined, served)
  return Digest.parseAll(messages, digestFunction, what)
}
