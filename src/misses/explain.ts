import { posix } from 'node:path'
import type { ActionResult } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../reapi/digest.js'
import type { RequestRecord } from '../rpc/request-records.js'
import { type CompareInputs, compareActions } from './action-difference.js'
import type { Cause, ExplainedMiss } from './cause.js'
import { type DescribedAction, outputPathsOf } from './described-action.js'
import type { History } from './history.js'

/** What explanations read. */
export interface Evidence {
  readonly history: History
  /** Undefined if the CAS does not have the Action and its Command. */
  action(digest: Digest): Promise<DescribedAction | undefined>
  /** The result of an action as it is stored, complete or not; undefined if there is none. */
  result(digest: Digest): Promise<ActionResult | undefined>
  /** When a store evicted a result or an output, in milliseconds since the epoch; undefined if it does not remember. */
  evictedMs(of: 'result' | 'output', digest: Digest): Promise<number | undefined>
  readonly compareInputs: CompareInputs
}

/** Earlier actions that are read to find the one with the same outputs. */
const MAX_CANDIDATES = 64

/** Why a request found no result. */
export const explain = async (miss: RequestRecord, evidence: Evidence): Promise<ExplainedMiss> => {
  const digest = Digest.ofKey(miss.action)
  const action = digest && (await evidence.action(digest))
  const outputs = action === undefined ? [] : rootPathsOf(action)
  return { miss, cause: await causeOf(miss, digest, action, evidence), outputs }
}

const causeOf = async (
  miss: RequestRecord,
  digest: Digest | undefined,
  action: DescribedAction | undefined,
  evidence: Evidence,
): Promise<Cause> => {
  if (miss.reason === 'damaged' || miss.reason === 'forbidden') return { kind: miss.reason }
  if (miss.reason === 'incomplete') return outputGone(miss, digest, evidence)
  return (await causeBefore(miss, digest, action, evidence)) ?? (await causeInOthers(miss, action, evidence))
}

const outputGone = async (miss: RequestRecord, digest: Digest | undefined, evidence: Evidence): Promise<Cause> => {
  const result = digest && (await evidence.result(digest))
  const path = result && miss.output !== undefined ? pathOf(miss.output, result, digest) : undefined
  const output = Digest.ofKey(miss.output ?? '')
  const evictedMs = output && (await evidence.evictedMs('output', output))
  return { kind: 'output gone', output, path, evictedMs }
}

/** Of the output with a digest. A file inside of an output directory has that of the directory if the tree is not read. */
const pathOf = (key: string, result: ActionResult, { function: digestFunction }: Digest): string | undefined => {
  const isIt = (message: { hash: string; sizeBytes: number } | null): boolean =>
    message !== null && Digest.parse(message, digestFunction).key === key
  if (isIt(result.stdoutDigest)) return 'stdout'
  if (isIt(result.stderrDigest)) return 'stderr'
  return (
    result.outputFiles.find(({ digest }) => isIt(digest))?.path ??
    result.outputDirectories.find(
      ({ treeDigest, rootDirectoryDigest }) => isIt(treeDigest) || isIt(rootDirectoryDigest),
    )?.path ??
    (result.outputDirectories.length === 1 ? `inside ${result.outputDirectories[0]?.path}` : undefined)
  )
}

/** The cause in earlier requests about the same action. */
const causeBefore = async (
  miss: RequestRecord,
  digest: Digest | undefined,
  action: DescribedAction | undefined,
  { history, evictedMs: evictionOf }: Evidence,
): Promise<Cause | undefined> => {
  const before = history.before(miss)
  const had = before.find(({ outcome }) => outcome === 'hit' || outcome === 'written')
  if (had !== undefined)
    return { kind: 'evicted', last: had, evictedMs: digest && (await evictionOf('result', digest)) }
  const [last] = before
  return last && { kind: 'never written', last, isUncacheable: action?.action.doNotCache === true }
}

/** The cause in the newest earlier action that makes the same outputs. */
const causeInOthers = async (
  miss: RequestRecord,
  action: DescribedAction | undefined,
  { history, action: find, compareInputs }: Evidence,
): Promise<Cause> => {
  const outputs = outputPathsOf(action?.command ?? NO_OUTPUTS)
  let candidateCount = 0
  let isAnyThere = false
  for (const earlier of history.earlierLike(miss)) {
    if (action === undefined) return { kind: 'unknown', isActionThere: false }
    if (candidateCount++ === MAX_CANDIDATES) break
    const digest = Digest.ofKey(earlier.action)
    const other = digest && (await find(digest))
    if (other === undefined) continue
    isAnyThere = true
    if (outputPathsOf(other.command)[0] !== outputs[0]) continue
    const [first, ...more] = await compareActions(other, action, compareInputs)
    if (first !== undefined) return { kind: 'different', earlier, differences: [first, ...more] }
  }
  return candidateCount === 0 || isAnyThere
    ? { kind: 'never built', sinceMs: history.sinceMs }
    : { kind: 'unknown', isActionThere: true }
}

const NO_OUTPUTS = { outputPaths: [], outputFiles: [], outputDirectories: [] }

const rootPathsOf = ({ command }: DescribedAction): readonly string[] =>
  outputPathsOf(command).map((path) => posix.join(command.workingDirectory, path))
