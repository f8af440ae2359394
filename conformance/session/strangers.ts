import type { DigestText, Session } from './session.js'

const DIGESTS = /[0-9a-f]{32,128}\/\d+/g

/** Every `hash/size` in a JSON form, also as a part of resource names. */
export const digestsIn = (form: unknown): DigestText[] => JSON.stringify(form ?? null).match(DIGESTS) ?? []

/**
 * What the client names before any answer did, and never sends: an action of which it only asks for the result, say. Nobody
 * has its bytes, so a replay may give it any name.
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
