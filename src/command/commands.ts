import { columns } from '../base/columns.js'
import { version } from '../base/version.js'
import { nearest } from '../config/suggest.js'
import { action } from './action.js'
import { cas } from './cas.js'
import { ccacheStorage } from './ccache-storage.js'
import { check } from './check.js'
import type { Command } from './command.js'
import { doctor } from './doctor.js'
import { goCache } from './go-cache.js'
import { importCommand } from './import.js'
import { init } from './init.js'
import { ls } from './ls.js'
import { start } from './start.js'
import { token } from './token.js'
import { validate } from './validate.js'

/** Every command but `remexec CONFIG`, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  start,
  init,
  validate,
  doctor,
  importCommand,
  check,
  ls,
  cas,
  action,
  goCache,
  ccacheStorage,
  token,
]

export const commandNamed = (name: string): Command | undefined => COMMANDS.find((command) => command.name === name)

/** The command that a misspelt word probably means. A path of a file means none. */
export const meantCommand = (word: string): string | undefined =>
  /[./\\]/.test(word)
    ? undefined
    : nearest(
        word,
        COMMANDS.map(({ name }) => name),
      )

/** The command that has an option; undefined if none or several have it. */
export const ownerOf = (option: string): string | undefined => {
  const [owner, ...more] = COMMANDS.filter(({ options }) => option in options)
  return more.length === 0 ? owner?.name : undefined
}

const EXITS = `Exit status: 0 success, 1 the configuration is wrong or the command failed, 2 wrong usage,
129, 130 or 143 after a signal.`

/** The help of the program. `pages` is the folder of its documents. */
export const usage = (pages: string): string => {
  const rows = [
    ['remexec', 'serve this machine, like `remexec start`'],
    ['remexec CONFIG', 'serve what CONFIG describes'],
    ...COMMANDS.flatMap(usageRows),
    ['remexec COMMAND --help', 'the options of a command'],
    ['remexec --help | --version', ''],
  ]
  return `remexec ${version()}, a build cache and remote execution server

${indented(rows)}

CONFIG is a JSON5 or JSON file; every key is described in
${pages}configuration.md
${EXITS}
`
}

/** The help of one command. */
export const usageOf = (command: Command): string => {
  const details = command.details ?? []
  return `${indented(usageRows(command))}\n${details.length > 0 ? `\n${indented(details)}\n` : ''}`
}

const usageRows = ({ name, usage: forms }: Command): readonly (readonly string[])[] =>
  forms.map(([args, effect]) => [`remexec ${name} ${args}`.trimEnd(), effect])

const indented = (rows: readonly (readonly string[])[]): string =>
  columns(rows)
    .map((row) => `  ${row}`)
    .join('\n')
