import { Code, isStatus, StatusError } from '../../base/status-error.js'
import { missReasonOf } from '../../blobs/result-miss.js'
import { getBytes, type Store } from '../../blobs/store.js'
import type { ActionResult } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../reapi/digest.js'
import { type InlineContext, type InlineHints, withOutputs } from './inline-outputs.js'

/** Why an action has no result. `error` says it to a client of gRPC. */
export type Miss =
  | { readonly kind: 'absent'; readonly error: StatusError }
  | { readonly kind: 'incomplete'; readonly output: Digest; readonly error: StatusError }
  | { readonly kind: 'damaged'; readonly error: StatusError }
  | { readonly kind: 'forbidden'; readonly error: StatusError }

/** What an action cache knows of an action. A cache that does not answer is an error instead. */
export type Lookup<Found> = { readonly kind: 'hit'; readonly found: Found } | Miss

export interface LookupContext extends InlineContext {
  /** Contains only results whose outputs are all in `cas`. */
  readonly ac: Store
}

/** The encoded result of an action, as it is stored. */
export const lookUpEntry = (action: Digest, { ac, maxBytes, call }: LookupContext): Promise<Lookup<Buffer>> =>
  lookup(action, getBytes(ac, action, maxBytes, call))

/** The result of an action, with the outputs that `hints` name. */
export const lookUpResult = async (
  action: Digest,
  hints: InlineHints,
  context: LookupContext,
): Promise<Lookup<ActionResult>> => {
  const entry = await lookUpEntry(action, context)
  return entry.kind === 'hit' ? resultOf(entry.found, action, hints, context) : entry
}

/** The result in an entry. An output that has just left the CAS makes it a miss. */
export const resultOf = (
  entry: Buffer,
  action: Digest,
  hints: InlineHints,
  context: InlineContext,
): Promise<Lookup<ActionResult>> => lookup(action, withOutputs(entry, action.function, hints, context))

/** What was found; throws the error of a miss. */
export const hitOf = <Found>(answer: Lookup<Found>): Found => {
  if (answer.kind === 'hit') return answer.found
  throw answer.error
}

const lookup = <Found>(action: Digest, work: Promise<Found>): Promise<Lookup<Found>> =>
  work.then(hit, (thrown: unknown) => missFor(action, thrown))

const hit = <Found>(found: Found): Lookup<Found> => ({ kind: 'hit', found })

const missFor = (action: Digest, thrown: unknown): Miss => {
  if (isStatus(thrown, 'NOT_FOUND')) {
    const error = thrown.withPrefix(`no result for action ${action.key}`)
    const reason = missReasonOf(thrown)
    return reason === undefined ? { kind: 'absent', error } : { ...reason, error }
  }
  if (isRefusal(thrown)) return { kind: 'forbidden', error: thrown }
  throw thrown
}

/** An action cache behind another server refuses, for example because its token has expired. */
const isRefusal = (thrown: unknown): thrown is StatusError =>
  thrown instanceof StatusError && (thrown.code === Code.PERMISSION_DENIED || thrown.code === Code.UNAUTHENTICATED)
