import { cleanedTarget, withoutEqual } from '../../edge-faults.js'
import { onAction, onResult, onTree } from '../../execution.js'
import type { Mutation } from '../../mutation.js'
import { byUtf16 } from './blobs.js'

// Mutations of seeded/places.tsv whose place is an action or what it leaves.

export const executionPlaceMutations: readonly Mutation[] = [
  {
    name: 'working-directory-dropped',
    breaks: 'Execute: commands run in the input root.',
    caughtBy: ['CMD-03'],
    tamper: () =>
      onAction(({ command }) => {
        command.workingDirectory = ''
      }),
  },
  {
    name: 'empty-variable-dropped',
    breaks: 'Execute: a variable with an empty value is not set.',
    caughtBy: ['CMD-29'],
    tamper: () =>
      onAction(({ command }) => {
        command.environmentVariables = command.environmentVariables.filter(({ value }) => value !== '')
      }),
  },
  {
    name: 'equal-arguments-dropped',
    breaks: 'Execute: the second of two equal arguments is missing.',
    caughtBy: ['CMD-29'],
    tamper: () =>
      onAction(({ command }) => {
        command.arguments = [...new Set(command.arguments)]
      }),
  },
  {
    name: 'outputs-to-a-limit',
    breaks: 'Execute: outputs after the thousandth are not collected.',
    caughtBy: ['OUT-18'],
    tamper: () =>
      onAction(({ command }) => {
        command.outputPaths = command.outputPaths.slice(0, 1_000)
      }),
  },
  {
    name: 'equal-inputs-dropped',
    breaks: 'Execute: the second of two input directories with equal digests is not created.',
    caughtBy: ['CMD-28'],
    tamper: () =>
      onAction(({ root }) => {
        root.directories = withoutEqual(root.directories)
      }),
  },
  {
    name: 'output-target-normalised',
    breaks: 'Execute: relative targets of output symlinks lose dots.',
    caughtBy: ['OUT-08'],
    tamper: () =>
      onResult(({ outputSymlinks }) => {
        for (const link of outputSymlinks) link.target = cleanedTarget(link.target)
      }),
  },
  {
    name: 'output-tree-re-ordered',
    breaks: 'Execute: files in the Tree of an output directory are ordered by UTF-16 units.',
    caughtBy: ['OUT-19'],
    tamper: () =>
      onTree(({ root }) => {
        root?.files.sort(byUtf16)
        return undefined
      }),
  },
]
