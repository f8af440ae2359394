import type { IncomingHttpHeaders } from 'node:http2'
import type { Any, Method } from '../wire/methods.js'

/** How a call ends: what stands in its trailers. */
export interface Ending {
  code: number
  message: string
  /** The value of `grpc-status-details-bin`, an encoded google.rpc.Status. */
  details: Buffer | undefined
}

/** A call whose messages are being tampered with. */
export interface Call<Q> {
  /** `/package.Service/Method`. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The client's first message; undefined until it came. */
  readonly request: Q | undefined
  /** Resolves when the client has sent all it wants to send. */
  readonly halfClosed: Promise<void>
  /** Asks the server behind the proxy on the mutation's own account. Throws when the call does not end OK. */
  ask<A, B>(method: Method<A, B>, request: A): Promise<B[]>
}

/** What a call gets in place of the server's answer; 'silence' never ends it, 'reset' breaks it off. */
export type Answer = { readonly responses?: readonly object[]; readonly ending: Ending } | 'silence' | 'reset'

/** What to send in a message's place; undefined for the message itself. */
export type Messages = readonly object[] | undefined

/**
 * What is done to the calls of one method, or of all. Hooks change what they are given in place; those that return
 * messages have them sent instead, and `[]` drops one.
 */
export interface Tampering<Q = Any, R = Any> {
  readonly method: Method<Q, R> | 'every method'
  /** Asked with the first message (undefined when the client sent none); what it returns keeps the server out of it. */
  answer?(request: Q | undefined, call: Call<Q>): Answer | undefined
  /** Asked before the call reaches the server; headers may be changed. */
  headers?(headers: Record<string, string | string[] | undefined>): void
  request?(message: Q, call: Call<Q>): Messages | Promise<Messages>
  response?(message: R, call: Call<Q>): Messages | Promise<Messages>
  /** Further messages after the last one of the server. */
  more?(call: Call<Q>, ending: Ending): readonly object[] | Promise<readonly object[]>
  ending?(ending: Ending, call: Call<Q>): void | Promise<void>
}

/** One way for a server to be wrong. */
export interface Mutation {
  readonly name: string
  /** One sentence: what the server does wrong. */
  readonly breaks: string
  /** The checks that must see it. */
  readonly caughtBy: readonly string[]
  /** How long its checks wait before they see it, when that is seconds: such mutations are examined first. */
  readonly waitsMs?: number
  /**
   * The methods it leaves unimplemented, as `Service.Method` without the package. That is one finding: one of the checks
   * must tell it, and those that cannot be judged without the method are skipped in its name.
   */
  readonly leavesOut?: readonly string[]
  /** Made anew for each run, so that what a mutation has to remember is its own. */
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

/** Answers in the server's place whenever `answer` has something to say. */
export const instead = <Q, R>(
  method: Method<Q, R>,
  answer: (request: Q | undefined, call: Call<Q>) => Answer | undefined,
): Tampering => ({ method, answer })

export const ended = (code = 0, message = code === 0 ? '' : 'mutated'): { readonly ending: Ending } => ({
  ending: { code, message, details: undefined },
})

/** OK with these responses. */
export const answered = (...responses: readonly object[]): Answer => ({ responses, ...ended() })

/** Replaces one code by another wherever the server ends a call with it. */
export const recode = (method: Method<Any, Any>, from: number, to: number): Tampering =>
  onEnding(method, (ending) => {
    if (ending.code !== from) return
    ending.code = to
    ending.details = undefined
  })
