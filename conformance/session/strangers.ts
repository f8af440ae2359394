import type { DigestText, Session } from './session.js'

const DIGESTS = /[0-9a-f]{32,128}\/\d+/g

/** Every `hash/size` in a JSON form, including those within resource names. */
export const digestsIn = (form: unknown): DigestText[] => JSON.stringify(form ?? null).match(DIGESTS) ?? []

/**
 * Digests that the client names before any answer and never uploads, e.g. an action whose result it only looks up.
 * Their content is unknown, so a replay may use any digest.
 */
export const strangersOf = ({ calls, blobs }: Pick<Session, 'calls' | 'blobs'>): ReadonlySet<DigestText> => {
  const [told, strangers] = [new Set<DigestText>(), new Set<DigestText>()]
  for (const [direction, , form] of calls.flatMap(({ messages }) => messages)) {
    for (const digest of digestsIn(form)) {
      if (direction === '<') told.add(digest)
      else if (!told.has(digest) && !(digest in blobs)) strangers.add(digest)
    }
  }
  return strangers
}
