import { Digest, type DigestMessage, resolveDigestFunction } from '../reapi/digest.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import type { Call } from '../rpc/call.js'
import { type Instances, inInstance, instanceOf } from './instance.js'

/** The digest functions that a request may use. */
export interface Functions {
  /** The request's digest_function; 0 if unset. */
  readonly value: number
  readonly served: readonly DigestFunction[]
}

/**
 * The first step of a handler: resolves the instance of the request, the call for its stores, and its digest functions.
 */
export const openRequest = <Instance extends { readonly digestFunctions: readonly DigestFunction[] }>(
  instances: Instances<Instance>,
  { instanceName, digestFunction }: { readonly instanceName: string; readonly digestFunction: number },
  rpc: Call,
): { readonly instance: Instance; readonly call: Call; readonly functions: Functions } => {
  const instance = instanceOf(instances, instanceName)
  const functions = { value: digestFunction, served: instance.digestFunctions }
  return { instance, call: inInstance(rpc, instanceName), functions }
}

/** One digest of a request; `what` names its field. */
export const requestDigest = (message: DigestMessage | null, { value, served }: Functions, what: string): Digest =>
  Digest.parse(message, resolveDigestFunction(value, message?.hash || undefined, served), what)

/**
 * All digests of a request, with one common function (REAPI: a request has only one). `what` names the repeated field.
 */
export const requestDigests = (
  messages: readonly (DigestMessage | null)[],
  { value, served }: Functions,
  what: string,
): Digest[] => {
  const digestFunction = resolveDigestFunction(value, messages[0]?.hash || undefined, served)
  return Digest.parseAll(messages, digestFunction, what)
}
