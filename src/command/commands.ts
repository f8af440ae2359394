import { columns } from '../base/columns.js'
import { version } from '../base/version.js'
import { nearest } from '../config/suggest.js'
import type { Command } from './command.js'

/** Every command but `remexec CONFIG`, in the order of the help. Only what runs is loaded: most need neither stores nor a server. */
const COMMANDS = {
  start: async () => (await import('./start.js')).start,
  init: async () => (await import('./init.js')).init,
  validate: async () => (await import('./validate.js')).validate,
  doctor: async () => (await import('./doctor.js')).doctor,
  import: async () => (await import('./import.js')).importCommand,
  status: async () => (await import('./operator/status.js')).status,
  queue: async () => (await import('./operator/queue.js')).queue,
  drain: async () => (await import('./operator/drain.js')).drain,
  builds: async () => (await import('./operator/builds.js')).builds,
  build: async () => (await import('./build.js')).build,
  why: async () => (await import('./why.js')).why,
  mcp: async () => (await import('./mcp.js')).mcp,
  rm: async () => (await import('./operator/rm.js')).rm,
  check: async () => (await import('./check.js')).check,
  ls: async () => (await import('./ls.js')).ls,
  cas: async () => (await import('./cas.js')).cas,
  action: async () => (await import('./action.js')).action,
  'go-cache': async () => (await import('./go-cache.js')).goCache,
  'ccache-storage': async () => (await import('./ccache-storage.js')).ccacheStorage,
  completion: async () => (await import('./completion.js')).completionOf(allCommands),
  token: async () => (await import('./token.js')).token,
} satisfies Readonly<Record<string, () => Promise<Command>>>

type CommandName = keyof typeof COMMANDS

/** In the order of the help. */
export const allCommands = (): Promise<readonly Command[]> => Promise.all(Object.values(COMMANDS).map((load) => load()))

export const isCommand = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word)

export const commandNamed = async (word: string): Promise<Command | undefined> =>
  isCommand(word) ? COMMANDS[word]() : undefined

/** The command that a misspelt word probably means. A path of a file means none. */
export const meantCommand = (word: string): string | undefined =>
  /[./\\]/.test(word) ? undefined : nearest(word, Object.keys(COMMANDS))

/** The command that has an option; undefined if none or several have it. */
export const ownerOf = async (option: string): Promise<string | undefined> => {
  const [owner, ...more] = (await allCommands()).filter(({ options }) => option in options)
  return more.length === 0 ? owner?.name : undefined
}

const EXITS = `Exit status: 0 success, 1 the configuration is wrong or the command failed, 2 wrong usage,
129, 130 or 143 after a signal.`

/** The help of the program. `pages` is the folder of its documents. */
export const usage = async (pages: string): Promise<string> => {
  const rows = [
    ['remexec', 'serve the configuration of this user or machine; without one like `remexec start`'],
    ['remexec CONFIG', 'serve what CONFIG describes'],
    ...(await allCommands()).flatMap(usageRows),
    ['remexec COMMAND --help', 'the options of a command'],
    ['remexec --help | --version', ''],
  ]
  return `remexec ${version()}, a build cache and remote execution server

${indented(rows)}

CONFIG is a JSON5 or JSON file; every key is described in
${pages}configuration.md
Without CONFIG: remexec/remexec.json5 in XDG_CONFIG_HOME (~/.config) or XDG_CONFIG_DIRS,
else /etc/remexec/remexec.json5.
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
