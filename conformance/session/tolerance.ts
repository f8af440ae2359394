import type { Json } from './json-form.js'

/** One place where an answer is not the recorded one. */
export interface Difference {
  /** From the method's answer down, e.g. `response.result.exitCode`; `status` is the status of the call. */
  readonly path: string
  readonly expected: Json | undefined
  readonly found: Json | undefined
}

interface Tolerance {
  readonly client: RegExp
  readonly method: RegExp
  readonly path: RegExp
  /** Which values are taken; any, when absent. */
  readonly found?: (found: Json | undefined) => boolean
  readonly reason: string
}

const everyone = /^/
const isOneOf =
  (...values: readonly Json[]) =>
  (found: Json | undefined): boolean =>
    found !== undefined && values.includes(found)

/** From the clients' sources and from runs: what may differ from a recording without the client's noticing. */
const tolerances: readonly Tolerance[] = [
  {
    client: /^(?!Buck2)/,
    method: everyone,
    path: /(^|\.)executionMetadata$/,
    reason: 'shown to the user at most; Buck2 alone fails without it',
  },
  {
    client: /^(?!Pants)/,
    method: /BatchReadBlobs$/,
    path: /\.status$/,
    found: isOneOf('absent', 'OK'),
    reason: 'an absent status reads as OK; Pants alone takes it for a failure',
  },
  {
    client: everyone,
    method: everyone,
    path: /(^|\.)(message|description|serverLogs|nodeProperties\.mtime|auxiliaryMetadata)$/,
    reason: 'text for people, and what the server adds',
  },
  {
    client: everyone,
    method: /(Execute|WaitExecution)$/,
    path: /^metadata\.stage$/,
    reason: 'a server that tries an action again goes back to QUEUED, and no client minds',
  },
  {
    client: /^Bazel/,
    method: /QueryWriteStatus$/,
    path: /^status$/,
    found: isOneOf('UNIMPLEMENTED'),
    reason: 'the upload starts again at 0',
  },
  {
    client: /^(?!moon)/,
    method: everyone,
    path: /nodeProperties/,
    reason: 'asked for by no other client',
  },
  {
    client: /^moon/,
    method: /GetActionResult$/,
    path: /^status$/,
    found: isOneOf('NOT_FOUND', 'OUT_OF_RANGE'),
    reason: 'both are a miss',
  },
  {
    client: /^(Bazel|Go SDK|reclient|Pants)/,
    method: /(Execute|WaitExecution)$/,
    path: /cachedResult$/,
    reason: 'shown to the user only',
  },
]

/** The differences that this client would stumble over. */
export const untolerated = (
  differences: readonly Difference[],
  client: string,
  method: string,
  exact: readonly string[],
): Difference[] =>
  differences.filter(
    ({ path, found }) =>
      exact.includes(path) ||
      !tolerances.some(
        (rule) =>
          rule.client.test(client) && rule.method.test(method) && rule.path.test(path) && (rule.found?.(found) ?? true),
      ),
  )
