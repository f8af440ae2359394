import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'
import { join } from '../join.js'
import { Tee, TeeBranch } from '../tee.js'
import { Blob } from './blob.js'
import { streamsOf } from './form.js'

/** Puts a blob somewhere; resolves once it is committed there. */
type Put = (blob: Blob) => Promise<void>

/**
 * Puts one blob at two places, reading it once. `required` failing fails it; why `optional` failed is the answer. What goes
 * to the optional place ends only after the required one committed, so that a cache never claims what the authority
 * refused; that one, too, does the check that is still to be done, and the other need not repeat it.
 */
export const putBoth = async (
  digest: Digest,
  blob: Blob,
  { required, optional }: { readonly required: Put; readonly optional: Put },
  signal: AbortSignal,
): Promise<StatusError | undefined> => {
  const { encoding, sizeBytes } = blob
  const isChecked = blob.isCheckedAs(digest)
  const [bare, check] = blob.withoutCheck()
  const known = (half: Blob): Blob => (isChecked ? half.knownAs(digest) : half)
  const checked = (half: Blob): Blob => (check === undefined ? known(half) : half.checkedAs(check.digest, check))
  const form = await bare.take()
  if (form.kind === 'bytes') {
    await required(checked(Blob.ofBytes(form.bytes, { encoding })))
    return failureOf(optional(known(Blob.ofBytes(form.bytes, { encoding }))))
  }
  const first = new TeeBranch()
  const second = new TeeBranch({ holdsEnd: true })
  const tee = new Tee([first, second])
  // The required place is the one that tells: without it nothing goes on.
  first.once('close', () => first.readableEnded || tee.destroy(first.errored ?? undefined))
  const moved = failureOf(join([...streamsOf(form), tee], signal))
  const cached = failureOf(optional(known(Blob.ofPath([second], { encoding, sizeBytes }))))
  const failure = await failureOf(required(checked(Blob.ofPath([first], { encoding, sizeBytes }))))
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
