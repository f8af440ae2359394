import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import { join } from '../join.js'
import { Tee, TeeBranch } from '../tee.js'
import { Blob, type BlobFacts } from './blob.js'
import type { BlobFeed } from './feed.js'
import { type BlobForm, streamsOf } from './form.js'
import { pour } from './pour.js'
import { PushedFeed } from './pushed-feed.js'

/** Puts a blob; resolves once it is committed. */
type Put = (blob: Blob) => Promise<void>

/**
 * Puts one blob into two stores and reads it once. Rejects if `required` fails; returns the failure of
 * `optional`. The optional put ends only after the required one has committed, so a cache never holds what
 * the authoritative store rejected. The required put also does a pending check, so the optional one need not
 * repeat it.
 */
export const putBoth = async (
  digest: Digest,
  blob: Blob,
  { required, optional }: { readonly required: Put; readonly optional: Put },
  signal: AbortSignal,
): Promise<StatusError | undefined> => {
  const { encoding, sizeBytes } = blob
  const isChecked = blob.isVerified(digest)
  const [bare, check] = blob.withoutCheck()
  const known = (half: Blob): Blob => (isChecked ? half.assumeVerified(digest) : half)
  const checked = (half: Blob): Blob => (check === undefined ? known(half) : half.verify(check.digest, check))
  const form = await bare.take()
  if (form.kind === 'bytes') {
    await required(checked(Blob.ofBytes(form.bytes, { encoding })))
    return failureOf(optional(known(Blob.ofBytes(form.bytes, { encoding }))))
  }
  const kept = { encoding, sizeBytes }
  const targets = {
    required: (half: Blob) => required(checked(half)),
    optional: (half: Blob) => optional(known(half)),
  }
  return form.kind === 'feed' ? feedBoth(form.feed, kept, targets, signal) : streamBoth(form, kept, targets, signal)
}

interface Targets {
  readonly required: Put
  readonly optional: Put
}

/** Lends each chunk to both stores. The next chunk follows when both have consumed it. */
const feedBoth = async (
  feed: BlobFeed,
  facts: BlobFacts,
  { required, optional }: Targets,
  signal: AbortSignal,
): Promise<StatusError | undefined> => {
  const first = new PushedFeed()
  const second = new PushedFeed()
  const give = async (bytes: Buffer): Promise<void> => {
    await Promise.all([first.push(bytes), second.push(bytes)])
  }
  // Both stores hear of a failure at once: `give` waits for their work on the last chunk.
  const stop = (error: unknown): void => {
    first.fail(StatusError.from(error))
    second.fail(StatusError.from(error))
  }
  const moved = failureOf(pour({ kind: 'feed', feed }, give, signal, stop)).then((failure) => {
    if (failure === undefined) first.finish()
    else first.fail(failure)
    return failure
  })
  const cached = failureOf(optional(Blob.ofFeed(second, facts)))
  const failure = await failureOf(required(Blob.ofFeed(first, facts)))
  if (failure !== undefined) feed.discard()
  const broken = failure ?? (await moved)
  if (broken === undefined) second.finish()
  else second.fail(broken)
  await moved
  const uncached = await cached
  if (failure !== undefined) throw failure
  return uncached
}

const streamBoth = async (
  form: BlobForm,
  facts: BlobFacts,
  { required, optional }: Targets,
  signal: AbortSignal,
): Promise<StatusError | undefined> => {
  const first = new TeeBranch()
  const second = new TeeBranch({ holdsEnd: true })
  const tee = new Tee([first, second])
  // If the required store stops reading, the transfer must fail.
  first.once('close', () => first.readableEnded || tee.destroy(first.errored ?? undefined))
  const moved = failureOf(join([...streamsOf(form), tee], signal))
  const cached = failureOf(optional(Blob.ofPath([second], facts)))
  const failure = await failureOf(required(Blob.ofPath([first], facts)))
  if (failure === undefined) {
    second.release()
    await moved
    return cached
  }
  tee.destroy(failure)
  second.destroy(failure)
  await Promise.all([moved, cached])
  throw failure
}

const failureOf = (work: Promise<void>): Promise<StatusError | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => StatusError.from(error),
  )
