import type { Command } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { toMs } from '../proto/time.js'
import { Digest } from '../reapi/digest.js'
import { type DescribedAction, outputPathsOf } from './described-action.js'
import { compareLists, type ListDifference } from './list-difference.js'
import { compareNamed, type NamedChange } from './named-difference.js'
import type { TreeDifference } from './tree-difference.js'

/** One way in which two actions differ. */
export type Difference =
  | { readonly kind: 'digest function'; readonly before: string; readonly now: string }
  | { readonly kind: 'salt'; readonly before: string; readonly now: string }
  | { readonly kind: 'timeout'; readonly beforeMs: number; readonly nowMs: number }
  | { readonly kind: 'caching'; readonly isCachedNow: boolean }
  | { readonly kind: 'platform'; readonly changes: readonly NamedChange[] }
  | { readonly kind: 'arguments'; readonly list: ListDifference }
  | { readonly kind: 'environment'; readonly changes: readonly NamedChange[] }
  | { readonly kind: 'outputs'; readonly list: ListDifference }
  | { readonly kind: 'working directory'; readonly before: string; readonly now: string }
  | {
      readonly kind: 'inputs'
      readonly before: Digest
      readonly now: Digest
      readonly tree: TreeDifference | undefined
    }
  | { readonly kind: 'other' }

export type DifferenceKind = Difference['kind']

/** Compares input trees. Undefined if the server does not have them. */
export type CompareInputs = (before: ActionInputs, now: ActionInputs) => Promise<TreeDifference | undefined>

export interface ActionInputs {
  readonly action: Digest
  readonly root: Digest
}

/**
 * The differences of two actions, the first cause first: what is the same for all actions of a build before what belongs
 * to one of them. Empty if the actions are the same.
 */
export const compareActions = async (
  before: DescribedAction,
  now: DescribedAction,
  compareInputs: CompareInputs,
): Promise<readonly Difference[]> => {
  if (before.digest.key === now.digest.key) return []
  const found = [...differencesBesideInputs(before, now)]
  const roots = { before: rootOf(before), now: rootOf(now) }
  if (roots.before.key !== roots.now.key) {
    const tree = await compareInputs(
      { action: before.digest, root: roots.before },
      { action: now.digest, root: roots.now },
    )
    found.push({ kind: 'inputs', ...roots, tree })
  }
  // For example, the same properties in another order.
  return found.length === 0 ? [{ kind: 'other' }] : found
}

export const rootOf = ({ digest, action }: DescribedAction): Digest =>
  Digest.parse(action.inputRootDigest, digest.function, 'input_root_digest')

function* differencesBesideInputs(before: DescribedAction, now: DescribedAction): Generator<Difference> {
  const [functionBefore, functionNow] = [before.digest.function.name, now.digest.function.name]
  if (functionBefore !== functionNow) yield { kind: 'digest function', before: functionBefore, now: functionNow }
  if (!before.action.salt.equals(now.action.salt))
    yield { kind: 'salt', before: before.action.salt.toString('hex'), now: now.action.salt.toString('hex') }
  const [beforeMs, nowMs] = [timeoutMs(before), timeoutMs(now)]
  if (beforeMs !== nowMs) yield { kind: 'timeout', beforeMs, nowMs }
  if (before.action.doNotCache !== now.action.doNotCache) yield { kind: 'caching', isCachedNow: !now.action.doNotCache }
  const platform = compareNamed(propertiesOf(before), propertiesOf(now))
  if (platform !== undefined) yield { kind: 'platform', changes: platform }
  yield* commandDifferences(before.command, now.command)
}

function* commandDifferences(before: Command, now: Command): Generator<Difference> {
  const list = compareLists(before.arguments, now.arguments)
  if (list !== undefined) yield { kind: 'arguments', list }
  const changes = compareNamed(before.environmentVariables, now.environmentVariables)
  if (changes !== undefined) yield { kind: 'environment', changes }
  const outputs = compareLists(outputPathsOf(before), outputPathsOf(now))
  if (outputs !== undefined) yield { kind: 'outputs', list: outputs }
  if (before.workingDirectory !== now.workingDirectory)
    yield { kind: 'working directory', before: before.workingDirectory, now: now.workingDirectory }
}

const timeoutMs = ({ action: { timeout } }: DescribedAction): number => (timeout === null ? 0 : toMs(timeout))

const propertiesOf = ({ action, command }: DescribedAction) => (action.platform ?? command.platform)?.properties ?? []
