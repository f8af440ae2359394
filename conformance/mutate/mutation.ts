import type { IncomingHttpHeaders } from 'node:http2'
import type { Any, Method } from '../wire/methods.js'

/** How a call ends: the contents of its trailers. */
export interface Ending {
  code: number
  message: string
  /** The value of `grpc-status-details-bin`, an encoded google.rpc.Status. */
  details: Buffer | undefined
}

/** A call whose messages the mutation changes. */
export interface Call<Q> {
  /** `/package.Service/Method`. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The client's first message; undefined until it arrives. */
  readonly request: Q | undefined
  /** Resolves when the client has sent its last message. */
  readonly halfClosed: Promise<void>
  /** Calls the server behind the proxy for the mutation itself. Throws if the call does not end with OK. */
  ask<A, B>(method: Method<A, B>, request: A): Promise<B[]>
}

/** Replaces the server's answer; 'silence' never ends the call, 'reset' cancels it. */
export type Answer = { readonly responses?: readonly object[]; readonly ending: Ending } | 'silence' | 'reset'

/** Replacements for a message; undefined keeps it. */
export type Messages = readonly object[] | undefined

/**
 * Changes to the calls of one method, or of all. Hooks edit their argument in place. Hooks that return messages replace
 * it; `[]` drops it.
 */
export interface Tampering<Q = Any, R = Any> {
  readonly method: Method<Q, R> | 'every method'
  /** Called with the first message (undefined if there was none); a return value answers without the server. */
  answer?(request: Q | undefined, call: Call<Q>): Answer | undefined
  /** Called before the call reaches the server; may change the headers. */
  headers?(headers: Record<string, string | string[] | undefined>): void
  request?(message: Q, call: Call<Q>): Messages | Promise<Messages>
  response?(message: R, call: Call<Q>): Messages | Promise<Messages>
  /** More messages after the server's last one. */
  more?(call: Call<Q>, ending: Ending): readonly object[] | Promise<readonly object[]>
  ending?(ending: Ending, call: Call<Q>): void | Promise<void>
}

/** One fault of a server. */
export interface Mutation {
  readonly name: string
  /** One sentence: the fault of the server. */
  readonly breaks: string
  /** The checks that must catch it. */
  readonly caughtBy: readonly string[]
  /** How long its checks wait until they see it, if that is seconds: such mutations run first. */
  readonly waitsMs?: number
  /**
   * The methods it leaves unimplemented, as `Service.Method` without the package. One of the checks must report the
   * method; the checks that need it are skipped.
   */
  readonly leavesOut?: readonly string[]
  /** Created for each run, so that the state of a mutation is its own. */
  tamper(): Tampering | readonly Tampering[]
}

/** Changes each response in place. */
export const onResponse = <Q, R>(
  method: Method<Q, R>,
  edit: (message: R, call: Call<Q>) => void | Promise<void>,
): Tampering => ({
  method,
  response: async (message, call) => {
    await edit(message, call)
    return undefined
  },
})

/** Sends these messages instead of each response. */
export const replaceResponse = <Q, R>(
  method: Method<Q, R>,
  replace: (message: R, call: Call<Q>) => Messages | Promise<Messages>,
): Tampering => ({ method, response: replace })

/** Changes each request in place before the server sees it. */
export const onRequest = <Q, R>(
  method: Method<Q, R>,
  edit: (message: Q, call: Call<Q>) => void | Promise<void>,
): Tampering => ({
  method,
  request: async (message, call) => {
    await edit(message, call)
    return undefined
  },
})

export const onEnding = <Q, R>(
  method: Method<Q, R>,
  ending: (ending: Ending, call: Call<Q>) => void | Promise<void>,
): Tampering => ({ method, ending })

/** Answers in place of the server if `answer` returns something. */
export const instead = <Q, R>(
  method: Method<Q, R>,
  answer: (request: Q | undefined, call: Call<Q>) => Answer | undefined,
): Tampering => ({ method, answer })

export const ended = (code = 0, message = code === 0 ? '' : 'mutated'): { readonly ending: Ending } => ({
  ending: { code, message, details: undefined },
})

/** OK with these responses. */
export const answered = (...responses: readonly object[]): Answer => ({ responses, ...ended() })

/** Replaces one final status code by another. */
export const recode = (method: Method<Any, Any>, from: number, to: number): Tampering =>
  onEnding(method, (ending) => {
    if (ending.code !== from) return
    ending.code = to
    ending.details = undefined
  })
