import type { Difference } from '../../misses/action-difference.js'
import type { ExplainedMiss } from '../../misses/cause.js'
import type { TreeDifference } from '../../misses/tree-difference.js'
import { causeText, changeText, differenceText } from '../../misses/words.js'
import { textData, timeData } from '../parts/data.js'

/** Why actions missed, as JSON. */

export const explainedData = ({ miss, cause, outputs }: ExplainedMiss): object => ({
  action: miss.action,
  instance: miss.instance,
  at: timeData(miss.timeMs),
  target: textData(miss.target),
  mnemonic: textData(miss.mnemonic),
  invocation: textData(miss.invocation),
  output: textData(outputs[0]),
  cause: textData(causeText(cause)),
  kind: cause.kind,
  ...(cause.kind === 'different' && {
    earlier: { action: cause.earlier.action, invocation: textData(cause.earlier.invocation) },
    differences: differencesData(cause.differences),
  }),
})

/** Values of the environment, which may be secrets, are left out. */
export const differencesData = (differences: readonly Difference[]): readonly object[] =>
  differences.map((difference) => ({
    kind: difference.kind,
    text: textData(differenceText(difference)),
    ...(difference.kind === 'inputs' && difference.tree && { inputs: treeData(difference.tree) }),
  }))

export const treeData = ({ changes, isComplete }: TreeDifference): object => ({
  changes: changes.map((change) => textData(changeText(change))),
  isComplete,
})
