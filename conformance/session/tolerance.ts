import type { Json } from './json-form.js'

/** One difference between an answer and the recorded one. */
export interface Difference {
  /** The path within the method's answer, e.g. `response.result.exitCode`; `status` is the status of the call. */
  readonly path: string
  readonly expected: Json | undefined
  readonly found: Json | undefined
}

interface Tolerance {
  readonly client: RegExp
  readonly method: RegExp
  readonly path: RegExp
  /** The accepted values; absent means any. */
  readonly found?: (found: Json | undefined) => boolean
  readonly reason: string
}

const everyone = /^/
const isOneOf =
  (...values: readonly Json[]) =>
  (found: Json | undefined): boolean =>
    found !== undefined && values.includes(found)

/** Differences from a recording that a client does not notice, from the clients' sources and from runs. */
const tolerances: readonly Tolerance[] = [
  {
    client: /^(?!Buck2)/,
    method: everyone,
    path: /(^|\.)executionMetadata$/,
    reason: 'at most shown to the user; Buck2 alone fails without it',
  },
  {
    client: /^(?!Pants)/,
    method: /BatchReadBlobs$/,
    path: /\.status$/,
    found: isOneOf('absent', 'OK'),
    reason: 'an absent status means OK; Pants alone treats it as a failure',
  },
  {
    client: everyone,
    method: everyone,
    path: /(^|\.)(message|description|serverLogs|nodeProperties\.mtime|auxiliaryMetadata)$/,
    reason: 'human-readable text, and additions of the server',
  },
  {
    client: everyone,
    method: /(Execute|WaitExecution)$/,
    path: /^metadata\.stage$/,
    reason: 'a server that retries an action goes back to QUEUED, and every client accepts that',
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
    reason: 'no other client asks for it',
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
    reason: 'only shown to the user',
  },
]

/** The differences that this client would fail on. */
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
