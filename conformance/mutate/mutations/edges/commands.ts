import { FOLDING_FAULTS, TEXT_FAULTS } from '../../edge-faults.js'
import { onAction } from '../../execution.js'
import type { Mutation } from '../../mutation.js'

export const commandEdgeMutations: readonly Mutation[] = [
  ...[...TEXT_FAULTS, ...FOLDING_FAULTS.slice(0, 3)].flatMap((fault): Mutation[] => [
    {
      name: `arguments-${fault.name}`,
      breaks: `Arguments of a command ${fault.does}.`,
      caughtBy: ['CMD-29'],
      // The script itself is unchanged: every row would see a server that breaks each command.
      tamper: () =>
        onAction(({ command }) => {
          command.arguments = keepingScript(command.arguments, fault.change)
        }),
    },
    {
      name: `variables-${fault.name}`,
      breaks: `Values of environment variables ${fault.does}.`,
      caughtBy: ['CMD-29'],
      tamper: () =>
        onAction(({ command }) => {
          for (const variable of command.environmentVariables) variable.value = fault.change(variable.value)
        }),
    },
  ]),
  {
    name: 'arguments-lose-empty',
    breaks: 'Empty arguments of a command are left out.',
    caughtBy: ['CMD-29'],
    tamper: () =>
      onAction(({ command }) => {
        command.arguments = command.arguments.filter((each) => each !== '')
      }),
  },
  {
    name: 'arguments-end-at-100',
    breaks: 'A command has a hundred arguments at most.',
    caughtBy: ['CMD-29'],
    tamper: () =>
      onAction(({ command }) => {
        command.arguments = command.arguments.slice(0, 100)
      }),
  },
  {
    name: 'variables-lose-empty',
    breaks: 'Environment variables without a value are not set.',
    caughtBy: ['CMD-29'],
    tamper: () =>
      onAction(({ command }) => {
        command.environmentVariables = command.environmentVariables.filter(({ value }) => value !== '')
      }),
  },
  {
    name: 'variables-end-at-100',
    breaks: 'A command has a hundred environment variables at most.',
    caughtBy: ['CMD-29'],
    tamper: () =>
      onAction(({ command }) => {
        command.environmentVariables = command.environmentVariables.slice(-100)
      }),
  },
  {
    name: 'variables-end-at-equals',
    breaks: 'Values of environment variables end before an equals sign.',
    caughtBy: ['CMD-29'],
    tamper: () =>
      onAction(({ command }) => {
        for (const variable of command.environmentVariables) variable.value = variable.value.split('=')[0] ?? ''
      }),
  },
]

const SCRIPT_ARGUMENTS = 4

const keepingScript = (all: readonly string[], change: (text: string) => string): string[] =>
  all.map((each, at) => (at < SCRIPT_ARGUMENTS ? each : change(each)))
